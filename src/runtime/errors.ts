/** Expected errors: a closed set of codes and the problems of the request, serializable across threads. */
import { EngineError } from '../analysis/platform.ts';

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
  | 'channels'
  | 'segments'
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
  return invalidPart(at, `audio.${code}`, message);
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
