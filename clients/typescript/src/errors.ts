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

/** Returns the error of a response other than 200. */
export async function readError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('X-Request-Id');
  const body: Partial<Failure | ValidationFailure> = await response.json().catch(() => ({}));
  if (Array.isArray(body.detail)) return new ValidationError(response.status, body.detail, requestId);
  const message = body.detail ?? `HTTP ${response.status} ${response.statusText}`.trimEnd();
  return new ApiError(response.status, message, 'code' in body ? (body.code ?? null) : null, requestId);
}
