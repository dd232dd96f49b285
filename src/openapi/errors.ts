/** Errors as clients see them: the HTTP status of each code, and the JSON of a validation error. */
import type { ErrorCode, Problem, ProblemReason, SerializedError } from '../runtime/errors.ts';

/** The HTTP status of each code, and when it occurs. */
export const errorTable: Readonly<Record<ErrorCode, { readonly status: number; readonly when: string }>> = {
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
};

/** When each reason of a validation error occurs. */
const reasonTable: Readonly<Record<ProblemReason, string>> = {
  missing: 'no `audio` part, or no multipart body',
  multipart: 'broken multipart',
  'audio.too_large': 'the body is over the limit',
  'audio.empty': 'no bytes, or no samples',
  'audio.content_type': 'the part declares a type that is not audio',
  'audio.unsupported': 'not an audio format that is taken, or no audio stream; `msg` names what it is',
  'audio.malformed': 'an audio format without one frame that decodes',
  'audio.too_long': 'the recording is longer than the limit',
  'audio.too_complex':
    'decoding takes far more processor time than the size and duration of the recording justify',
  'audio.too_many_channels': 'more channels than the limit',
  'audio.sample_rate': 'a sample rate out of the limits',
  'audio.channel': 'no such channel, or no number of a channel',
  unknown: 'JSON with a field that is not known',
  callback: 'a `callback` that may not be called',
  urls: 'no list of addresses, or one that recordings may not be fetched from',
  idempotency_key: 'an `Idempotency-Key` that was used for another request',
  'url.unreachable': 'no recording came from the address',
  'audio.insufficient_speech': 'a `baseline` with under 0.5 s of speech',
};

/** The `type` of a validation error, and when it occurs. */
export const validationTypes: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(reasonTable).map(([reason, when]) => [typeOf(reason), when]),
);

/** An entry of `detail` in the body of 413 and 422. */
export type ValidationItem = {
  readonly loc: readonly ['body' | 'header', string];
  readonly msg: string;
  readonly type: string;
};

export function httpStatus(code: ErrorCode): number {
  return errorTable[code].status;
}

export function toValidationItem({ where, field, reason, message }: Problem): ValidationItem {
  return { loc: [where, field], msg: message, type: typeOf(reason) };
}

/** The body of an error response, without its request id. */
export function errorJson({ code, message, problems }: SerializedError): object {
  return problems.length > 0 ? { detail: problems.map(toValidationItem) } : { detail: message, code };
}

function typeOf(reason: string): string {
  return `value_error.${reason}`;
}
