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
    constructor(status, message, code, requestId) {
        super(message);
        this.status = status;
        this.code = code;
        this.requestId = requestId;
    }
}
/** 413 or 422: the upload is invalid; `items` list the reasons. */
export class ValidationError extends ApiError {
    name = 'ValidationError';
    items;
    constructor(status, items, requestId) {
        super(status, items.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '), null, requestId);
        this.items = items;
    }
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
    return toApiError(status, { detail, ...body }, headers.get('X-Request-Id'));
}
export function toApiError(status, { detail, code }, requestId) {
    if (Array.isArray(detail))
        return new ValidationError(status, detail, requestId);
    return new ApiError(status, detail, code ?? null, requestId);
}
