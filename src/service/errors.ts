/** Expected errors: codes and problems, their HTTP status and their JSON. */

import { EngineError } from '../engine/platform.ts';

// Expected errors: a closed set of codes and the problems of the request, serializable across threads.

export type ErrorCode =
  | 'bad_request'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'timeout'
  | 'too_large'
  | 'content_coding'
  | 'misdirected'
  | 'invalid'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal'
  | 'not_configured'
  | 'transfer_coding'
  | 'overloaded'
  | 'deadline'
  | 'worker_lost'
  | 'queue_unavailable'
  | 'storage_unavailable'
  | 'shutting_down'
  | 'not_ready';

export type ProblemReason =
  | 'missing'
  | 'multipart'
  | 'audio.too_large'
  | 'audio.empty'
  | 'audio.content_type'
  | 'audio.unsupported'
  | 'audio.malformed'
  | 'audio.too_long'
  | 'audio.too_complex'
  | 'audio.too_many'
  | 'audio.too_many_channels'
  | 'audio.sample_rate'
  | 'audio.channel'
  | 'audio.track'
  | 'channels'
  | 'segments'
  | 'speakers'
  | 'receipt'
  | 'scopes'
  | 'unknown'
  | 'callback'
  | 'metadata'
  | 'urls'
  | 'idempotency_key'
  | 'url.unreachable'
  | 'audio.insufficient_speech';

/** One refused part, field or header of a request. */
export type Problem = {
  readonly where: 'body' | 'header';
  readonly field: string;
  /** A ProblemReason, or `FIELD.REASON` of an account request. */
  readonly reason: string;
  readonly message: string;
};

/** A ServiceError as it crosses threads. */
export type SerializedError = Pick<ServiceError, 'code' | 'message' | 'problems' | 'retryAfterSeconds'>;

type ErrorDetails = {
  /** Filled for `invalid` and `too_large` only. */
  readonly problems?: readonly Problem[];
  /** 1 by default. */
  readonly retryAfterSeconds?: number;
  /** Logged, never sent. */
  readonly cause?: unknown;
};

/** An expected failure of a request or job. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly problems: readonly Problem[];
  readonly retryAfterSeconds: number;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : {});
    this.name = 'ServiceError';
    this.code = code;
    this.problems = details.problems ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds ?? 1;
  }
}

export function hasCode(error: unknown, code: ErrorCode): boolean {
  return error instanceof ServiceError && error.code === code;
}

/** The message with the message of its cause, for operators. */
export function describeServiceError({ message, cause }: ServiceError): string {
  return cause === undefined
    ? message
    : `${message}: ${cause instanceof Error ? cause.message : String(cause)}`;
}

/** An error about one part of the body: `too_large` or `invalid`. */
export function invalidPart(field: string, reason: ProblemReason, message: string): ServiceError {
  const code = reason === 'audio.too_large' ? 'too_large' : 'invalid';
  return new ServiceError(code, message, { problems: [{ where: 'body', field, reason, message }] });
}

/** An error of the engine as one of the service; returns others as they are. */
export function toServiceError(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  const { code, at, message } = error;
  if (code === 'stopped' || at === null) return new ServiceError('deadline', message);
  return invalidPart(at, code === 'segments' || code === 'speakers' ? code : `audio.${code}`, message);
}

/** The body, or the recordings in it, exceed the limit. */
export function tooLarge(maxBytes: number, field = 'audio', reason = 'audio.too_large'): ServiceError {
  const message = `Expected at most ${maxBytes} bytes for \`body\`, got more`;
  return new ServiceError('too_large', message, { problems: [{ where: 'body', field, reason, message }] });
}

/** Adds to an error about a limit of recordings which setting it is, and what takes more. Other errors are unchanged. */
export function explainLimit<Thrown>(
  error: Thrown,
  advice: { readonly [Reason in 'audio.too_long' | 'audio.too_large']?: string },
): Thrown | ServiceError {
  const reason = error instanceof ServiceError ? error.problems[0]?.reason : undefined;
  const text = reason === 'audio.too_long' || reason === 'audio.too_large' ? advice[reason] : undefined;
  if (!(error instanceof ServiceError) || text === undefined) return error;
  const message = `${error.message}: ${text}`;
  return new ServiceError(error.code, message, {
    problems: error.problems.map((problem) => ({ ...problem, message })),
  });
}

export function serializeError({
  code,
  message,
  problems,
  retryAfterSeconds,
}: ServiceError): SerializedError {
  return { code, message, problems, retryAfterSeconds };
}

export function deserializeError({ code, message, ...details }: SerializedError): ServiceError {
  return new ServiceError(code, message, details);
}

// Errors as clients see them: the HTTP status of each code, and the JSON of a validation error.

/** The HTTP status of each code, and when it occurs. */
export const errorTable: Readonly<Record<ErrorCode, { readonly status: number; readonly when: string }>> = {
  bad_request: { status: 400, when: 'HTTP or JSON is broken, or a body comes in chunks of a few bytes' },
  unauthenticated: { status: 401, when: 'no, malformed, unknown, expired or revoked token' },
  forbidden: { status: 403, when: 'the token lacks the scope' },
  not_found: { status: 404, when: 'no such path, or no such job of this token' },
  method_not_allowed: { status: 405, when: 'method not supported by the path; `Allow` lists its methods' },
  timeout: { status: 408, when: 'the request arrived too slowly' },
  too_large: { status: 413, when: 'the body exceeds the limit' },
  content_coding: { status: 415, when: 'the body is compressed: it has a `Content-Encoding`' },
  misdirected: { status: 421, when: 'a page or account route with a host name that is not configured' },
  invalid: { status: 422, when: 'the body is invalid' },
  rate_limited: {
    status: 429,
    when: 'over a configured rate limit, or over the jobs that an account may keep',
  },
  headers_too_large: { status: 431, when: 'the headers are too large' },
  internal: { status: 500, when: 'any other error; its cause is only in the log' },
  not_configured: { status: 501, when: 'the feature is not configured' },
  transfer_coding: { status: 501, when: '`Transfer-Encoding` is not `chunked` alone' },
  overloaded: {
    status: 503,
    when: 'all workers are busy and the queue is full, or too many request bytes are in memory',
  },
  deadline: { status: 503, when: 'the request exceeded its deadline' },
  worker_lost: { status: 503, when: 'the worker of the request died' },
  queue_unavailable: { status: 503, when: 'the job queue is unreachable' },
  storage_unavailable: { status: 503, when: 'the database is unreachable' },
  shutting_down: { status: 503, when: 'the service is shutting down' },
  not_ready: { status: 503, when: 'the models are being loaded' },
};

/** Statuses that a client retries, in addition to lost connections; 502 and 504 come from proxies. */
export const retriedStatuses: readonly number[] = [500, 502, 503, 504];

/** When each reason of a validation error occurs. */
const reasonTable: Readonly<Record<ProblemReason, string>> = {
  missing: 'no `audio` part, or no multipart body; `msg` names what came instead',
  multipart: 'broken multipart',
  'audio.too_large': 'the body exceeds the limit',
  'audio.empty': 'no bytes, or no samples',
  'audio.content_type': 'the part has a content type that is not audio',
  'audio.unsupported': 'an unsupported format, or no audio stream; `msg` names the format if known',
  'audio.malformed': 'an audio format without one frame that decodes',
  'audio.too_long': 'the recording is longer than the limit',
  'audio.too_complex': 'decoding needs far more CPU time than the size and duration of the recording justify',
  'audio.too_many': 'more than five parts `baseline`',
  'audio.too_many_channels': 'more channels than the limit',
  'audio.sample_rate': 'a sample rate outside the limits',
  'audio.channel': 'no such channel, not a channel number, or `channels` without exactly two channels',
  'audio.track': 'no such audio track, or not the number of a track; `msg` names the tracks of the file',
  channels: '`channels` is not `split`, is sent with `channel` or `baseline`, or is sent to another path',
  segments: '`segments` is invalid, is sent with `channels` or `baseline`, or is sent to another path',
  speakers:
    '`speakers` is neither `2` to `6` nor `auto`, is sent with `channels`, `segments` or `baseline`, is sent to another path, or the models have no voice model',
  receipt: '`receipt` is neither `true` nor `false`',
  scopes: 'not a list of scopes',
  unknown: 'JSON with an unknown field, which `msg` names',
  callback: 'a `callback` URL that is not allowed',
  metadata: '`metadata` is not an object of text values, or is too long',
  urls: 'not a list of URLs, or a URL that is not allowed',
  idempotency_key: 'an `Idempotency-Key` that was used for another request',
  'url.unreachable': 'the URL returned no recording',
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
