import type { Failure, ValidationFailure } from './reports.ts';

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

  constructor(status: number, message: string, code: Failure['code'] | null, requestId: string | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

/** 413 or 422: the upload is invalid; `items` list the reasons. */
export class ValidationError extends ApiError {
  override name = 'ValidationError';
  readonly items: readonly ValidationItem[];

  constructor(status: number, items: readonly ValidationItem[], requestId: string | null) {
    super(status, items.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '), null, requestId);
    this.items = items;
  }
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
  return toApiError(status, { detail, ...body }, headers.get('X-Request-Id'));
}

export function toApiError(status: number, { detail, code }: ErrorBody, requestId: string | null): ApiError {
  if (Array.isArray(detail)) return new ValidationError(status, detail, requestId);
  return new ApiError(status, detail, code ?? null, requestId);
}
