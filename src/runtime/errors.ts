/** The closed set of error codes and the one table code -> HTTP status. */

const table = {
  bad_request: { status: 400, when: 'HTTP or JSON is broken, or a body comes in chunks of a few bytes' },
  unauthenticated: { status: 401, when: 'no, malformed, unknown, expired or revoked token' },
  forbidden: { status: 403, when: 'the token lacks the scope' },
  not_found: { status: 404, when: 'no such path, or no such job of this token' },
  method_not_allowed: { status: 405, when: 'known path, other method; `Allow` lists its methods' },
  timeout: { status: 408, when: 'the request came too slowly' },
  too_large: { status: 413, when: 'the body is over the limit' },
  misdirected: { status: 421, when: 'a page or account route by a host name that is not configured' },
  invalid: { status: 422, when: 'the body cannot be taken as it is' },
  rate_limited: { status: 429, when: 'over a limit that the operator switched on' },
  headers_too_large: { status: 431, when: 'the headers are too large' },
  internal: { status: 500, when: 'everything else; the cause is only in the log' },
  not_configured: { status: 501, when: 'a part that the operator has not configured' },
  overloaded: { status: 503, when: 'all workers are busy and the queue is full, or too many bytes are held' },
  deadline: { status: 503, when: 'the request took longer than it may' },
  worker_lost: { status: 503, when: 'the worker that had the request was lost' },
  queue_unavailable: { status: 503, when: 'the queue of jobs cannot be used' },
  storage_unavailable: { status: 503, when: 'the database cannot be used' },
  shutting_down: { status: 503, when: 'the service is being stopped' },
  not_ready: { status: 503, when: 'the models are being loaded' },
} as const;

export type ErrorCode = keyof typeof table;

export const errorTable: Readonly<Record<ErrorCode, { readonly status: number; readonly when: string }>> =
  table;

/** The types of a validation error, and when each comes. */
export const validationTypes = {
  'value_error.missing': 'no `audio` part, or no multipart body',
  'value_error.multipart': 'broken multipart',
  'value_error.audio.too_large': 'the body is over the limit',
  'value_error.audio.empty': 'no bytes, or no samples',
  'value_error.audio.content_type': 'the part declares a type that is not audio',
  'value_error.audio.unsupported':
    'not an audio format that is taken, or no audio stream; `msg` names what it is',
  'value_error.audio.malformed': 'an audio format without one frame that decodes',
  'value_error.audio.too_long': 'the recording is longer than the limit',
  'value_error.audio.too_complex':
    'decoding takes far more processor time than the size and duration of the recording justify',
  'value_error.audio.too_many_channels': 'more channels than the limit',
  'value_error.audio.sample_rate': 'a sample rate out of the limits',
  'value_error.audio.channel': 'no such channel, or no number of a channel',
  'value_error.unknown': 'JSON with a field that is not known',
  'value_error.callback': 'a `callback` that may not be called',
  'value_error.urls': 'no list of addresses, or one that recordings may not be fetched from',
  'value_error.idempotency_key': 'an `Idempotency-Key` that was used for another request',
  'value_error.url.unreachable': 'no recording came from the address',
  'value_error.audio.insufficient_speech': 'a `baseline` with under 0.5 s of speech',
} as const;

export type ValidationType = keyof typeof validationTypes;

/** One entry of the contract's validation error: where, what, and a machine-readable type. */
export type ValidationItem = {
  readonly loc: readonly ['body' | 'header', string];
  readonly msg: string;
  readonly type: string;
};

/** A failure as it crosses threads: plain data, rebuilt with `toFailure`. */
export type SerializedError = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly items: readonly ValidationItem[];
  readonly retryAfterSeconds: number;
};

/** An expected failure of a request. `items` is filled for `invalid` and `too_large` alone. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly items: readonly ValidationItem[];
  /** When to try again, if that is worth it at all. */
  readonly retryAfterSeconds: number;

  constructor(
    code: ErrorCode,
    message: string,
    items: readonly ValidationItem[] = [],
    retryAfterSeconds: number = 1,
  ) {
    super(message);
    this.name = 'Failure';
    this.code = code;
    this.items = items;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export function httpStatus(code: ErrorCode): number {
  return table[code].status;
}

/** A 422 (or 413 for `too_large`) about one part of the body; `type` is the full value_error... string. */
export function invalidPart(part: string, type: string, msg: string): ServiceError {
  const code = type === 'value_error.audio.too_large' ? 'too_large' : 'invalid';
  return new ServiceError(code, msg, [{ loc: ['body', part], msg, type }]);
}

/** A 413: the body, or the recordings in it, are over the limit. */
export function tooLarge(maxBytes: number): ServiceError {
  const msg = `Expected at most ${maxBytes} bytes for \`body\`, got more`;
  return invalidPart('audio', 'value_error.audio.too_large', msg);
}

export function serializeError({ code, message, items, retryAfterSeconds }: ServiceError): SerializedError {
  return { code, message, items, retryAfterSeconds };
}

export function deserializeError(record: SerializedError): ServiceError {
  return new ServiceError(record.code, record.message, record.items, record.retryAfterSeconds);
}
