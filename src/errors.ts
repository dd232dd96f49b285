/** The closed set of error codes and the one table code -> HTTP status. */

const statusByCode = {
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  timeout: 408,
  too_large: 413,
  invalid: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  not_configured: 501,
  overloaded: 503,
  deadline: 503,
  worker_lost: 503,
  storage_unavailable: 503,
  shutting_down: 503,
  not_ready: 503,
} as const;

export type ErrorCode = keyof typeof statusByCode;

/** One entry of the contract's validation error: where, what, and a machine-readable type. */
export type ValidationItem = {
  readonly loc: readonly ['body', string];
  readonly msg: string;
  readonly type: string;
};

/** A failure as it crosses threads: plain data, rebuilt with `toFailure`. */
export type FailureRecord = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly items: readonly ValidationItem[];
};

/** An expected failure of a request. `items` is filled for `invalid` and `too_large` alone. */
export class Failure extends Error {
  readonly code: ErrorCode;
  readonly items: readonly ValidationItem[];

  constructor(code: ErrorCode, message: string, items: readonly ValidationItem[] = []) {
    super(message);
    this.name = 'Failure';
    this.code = code;
    this.items = items;
  }
}

export function httpStatus(code: ErrorCode): number {
  return statusByCode[code];
}

/** A 422 (or 413 for `too_large`) about one part of the body; `type` is the full value_error... string. */
export function invalidPart(part: string, type: string, msg: string): Failure {
  const code = type === 'value_error.audio.too_large' ? 'too_large' : 'invalid';
  return new Failure(code, msg, [{ loc: ['body', part], msg, type }]);
}

export function toRecord(failure: Failure): FailureRecord {
  return { code: failure.code, message: failure.message, items: failure.items };
}

export function toFailure(record: FailureRecord): Failure {
  return new Failure(record.code, record.message, record.items);
}
