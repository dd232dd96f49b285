import type { Failure, Job, ValidationFailure } from './reports.ts';

export type ValidationItem = ValidationFailure['detail'][number];

/** Whatever a call throws, but for an abort by its own signal. */
export class UndertoneError extends Error {
  override name = 'UndertoneError';
}

/** No response: the connection failed or timed out. `cause` has the details. */
export class NoAnswerError extends UndertoneError {
  override name = 'NoAnswerError';
  /** Or never made; else it was not in time. */
  readonly connectionLost: boolean;

  constructor(message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.connectionLost = options !== undefined;
  }
}

/** The service refused. */
export class ApiError extends UndertoneError {
  override name = 'ApiError';
  readonly status: number;
  /** Such as `unauthenticated` or `overloaded`; null for a validation error and for answers of something in between. */
  readonly code: Failure['code'] | null;
  readonly requestId: string | null;
  /** Seconds of `Retry-After`, from 1 to 3600; null without it. */
  retryAfterSeconds: number | null = null;

  constructor(status: number, message: string, code: Failure['code'] | null, requestId: string | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

/** 401: the token is missing, unknown, expired or revoked. */
export class UnauthenticatedError extends ApiError {
  override name = 'UnauthenticatedError';
}

/** 403: the token lacks a scope. */
export class ForbiddenError extends ApiError {
  override name = 'ForbiddenError';
}

/** 404: no such job of this token. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}

/** 429: over a rate limit; `retryAfterSeconds` says how long. */
export class RateLimitedError extends ApiError {
  override name = 'RateLimitedError';
}

/** 503, after the retries: `code` says why. */
export class UnavailableError extends ApiError {
  override name = 'UnavailableError';
}

/** 413 or 422: the upload is invalid; `items` list the reasons. */
export class ValidationError extends ApiError {
  override name = 'ValidationError';
  readonly items: readonly ValidationItem[];

  constructor(status: number, items: readonly ValidationItem[], requestId: string | null) {
    super(status, describe(items), null, requestId);
    this.items = items;
  }
}

/** A job failed, or was cancelled. */
export class JobFailedError extends UndertoneError {
  override name = 'JobFailedError';
  readonly job: Job;
  /** Such as `deadline` or `worker_lost`; null for an invalid recording. */
  readonly code: Failure['code'] | null;
  /** Of an invalid recording: the reasons. */
  readonly items: readonly ValidationItem[];

  constructor(job: Job) {
    const { detail, code = null } = (job.error ?? { detail: job.status }) as ErrorBody;
    const items = Array.isArray(detail) ? detail : [];
    super(`Job ${job.id}: ${Array.isArray(detail) ? describe(detail) : detail}`);
    this.job = job;
    this.code = code;
    this.items = items;
  }
}

/** A callback without a valid signature. */
export class WebhookError extends UndertoneError {
  override name = 'WebhookError';
}

/** A live session ended without a report, or is over. */
export class SessionEndedError extends UndertoneError {
  override name = 'SessionEndedError';
  /** The close code of the WebSocket. */
  readonly code: number;
  /** The close code in words, such as `idle`. */
  readonly reason: string;

  constructor(code: number, reason: string) {
    super(`Expected an open session, got close code ${code} ${reason}`.trimEnd());
    this.code = code;
    this.reason = reason;
  }
}

/** The body of an error, over HTTP or in a message. */
export type ErrorBody = {
  readonly detail: Failure['detail'] | ValidationFailure['detail'];
  readonly code?: Failure['code'];
};

/** Returns the error of a response other than 200. */
export async function readError(response: Response): Promise<ApiError> {
  const { status, statusText, headers } = response;
  const detail = `HTTP ${status} ${statusText}`.trimEnd();
  const body: Partial<ErrorBody> = await response.json().catch(() => ({}));
  const error = toApiError(status, { detail, ...body }, headers.get('X-Request-Id'));
  error.retryAfterSeconds = retryAfterOf(headers);
  return error;
}

/** No delay is longer: a timer of 2^31 ms or more fires at once. */
export const maxDelaySeconds = 3600;

/** Seconds of `Retry-After`, which holds seconds or a date, from 1 to 3600; null without it. */
export function retryAfterOf(headers: Headers): number | null {
  const text = headers.get('Retry-After') ?? '';
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.min(maxDelaySeconds, Math.max(1, seconds));
}

export function toApiError(status: number, { detail, code }: ErrorBody, requestId: string | null): ApiError {
  if (Array.isArray(detail)) return new ValidationError(status, detail, requestId);
  return new (kinds[status] ?? ApiError)(status, detail, code ?? null, requestId);
}

const kinds: Readonly<Record<number, typeof ApiError>> = {
  401: UnauthenticatedError,
  403: ForbiddenError,
  404: NotFoundError,
  429: RateLimitedError,
  503: UnavailableError,
};

function describe(items: readonly ValidationItem[]): string {
  return items.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
}
