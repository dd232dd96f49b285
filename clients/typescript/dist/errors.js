/** Whatever a call throws, but for an abort by its own signal. */
export class UndertoneError extends Error {
    name = 'UndertoneError';
}
/** No response: the connection failed or timed out. `cause` has the details. */
export class NoAnswerError extends UndertoneError {
    name = 'NoAnswerError';
    /** Or never made; else it was not in time. */
    connectionLost;
    constructor(message, options) {
        super(message, options);
        this.connectionLost = options !== undefined;
    }
}
/** The service refused. */
export class ApiError extends UndertoneError {
    name = 'ApiError';
    status;
    /** Such as `unauthenticated` or `overloaded`; null for a validation error and for answers of something in between. */
    code;
    requestId;
    /** Seconds of `Retry-After`; null without it. */
    retryAfterSeconds = null;
    constructor(status, message, code, requestId) {
        super(message);
        this.status = status;
        this.code = code;
        this.requestId = requestId;
    }
}
/** 401: the token is missing, unknown, expired or revoked. */
export class UnauthenticatedError extends ApiError {
    name = 'UnauthenticatedError';
}
/** 403: the token lacks a scope. */
export class ForbiddenError extends ApiError {
    name = 'ForbiddenError';
}
/** 404: no such job of this token. */
export class NotFoundError extends ApiError {
    name = 'NotFoundError';
}
/** 429: over a rate limit; `retryAfterSeconds` says how long. */
export class RateLimitedError extends ApiError {
    name = 'RateLimitedError';
}
/** 503, after the retries: `code` says why. */
export class UnavailableError extends ApiError {
    name = 'UnavailableError';
}
/** 413 or 422: the upload is invalid; `items` list the reasons. */
export class ValidationError extends ApiError {
    name = 'ValidationError';
    items;
    constructor(status, items, requestId) {
        super(status, describe(items), null, requestId);
        this.items = items;
    }
}
/** A job failed, or was cancelled. */
export class JobFailedError extends UndertoneError {
    name = 'JobFailedError';
    job;
    /** Such as `deadline` or `worker_lost`; null for an invalid recording. */
    code;
    /** Of an invalid recording: the reasons. */
    items;
    constructor(job) {
        const { detail, code = null } = (job.error ?? { detail: job.status });
        const items = Array.isArray(detail) ? detail : [];
        super(`Job ${job.id}: ${Array.isArray(detail) ? describe(detail) : detail}`);
        this.job = job;
        this.code = code;
        this.items = items;
    }
}
/** A callback without a valid signature. */
export class WebhookError extends UndertoneError {
    name = 'WebhookError';
}
/** A live session ended without a report, or is over. */
export class SessionEndedError extends UndertoneError {
    name = 'SessionEndedError';
    /** The close code of the WebSocket. */
    code;
    /** The close code in words, such as `idle`. */
    reason;
    constructor(code, reason) {
        super(`Expected an open session, got close code ${code} ${reason}`.trimEnd());
        this.code = code;
        this.reason = reason;
    }
}
/** Returns the error of a response other than 200. */
export async function readError(response) {
    const { status, statusText, headers } = response;
    const detail = `HTTP ${status} ${statusText}`.trimEnd();
    const body = await response.json().catch(() => ({}));
    const error = toApiError(status, { detail, ...body }, headers.get('X-Request-Id'));
    const retryAfter = headers.get('Retry-After');
    if (retryAfter !== null && /^\d+$/.test(retryAfter))
        error.retryAfterSeconds = Number(retryAfter);
    return error;
}
export function toApiError(status, { detail, code }, requestId) {
    if (Array.isArray(detail))
        return new ValidationError(status, detail, requestId);
    return new (kinds[status] ?? ApiError)(status, detail, code ?? null, requestId);
}
const kinds = {
    401: UnauthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    429: RateLimitedError,
    503: UnavailableError,
};
function describe(items) {
    return items.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
}
