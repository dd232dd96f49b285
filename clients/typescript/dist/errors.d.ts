import type { Failure, Job, ValidationFailure } from './reports.ts';
export type ValidationItem = ValidationFailure['detail'][number];
/** Whatever a call throws, but for an abort by its own signal. */
export declare class UndertoneError extends Error {
    name: string;
}
/** No response: the connection failed or timed out. `cause` has the details. */
export declare class NoAnswerError extends UndertoneError {
    name: string;
    /** Or never made; else it was not in time. */
    readonly connectionLost: boolean;
    constructor(message: string, options?: {
        readonly cause: unknown;
    });
}
/** The service refused. */
export declare class ApiError extends UndertoneError {
    name: string;
    readonly status: number;
    /** Such as `unauthenticated` or `overloaded`; null for a validation error and for answers of something in between. */
    readonly code: Failure['code'] | null;
    readonly requestId: string | null;
    /** Seconds of `Retry-After`; null without it. */
    retryAfterSeconds: number | null;
    constructor(status: number, message: string, code: Failure['code'] | null, requestId: string | null);
}
/** 401: the token is missing, unknown, expired or revoked. */
export declare class UnauthenticatedError extends ApiError {
    name: string;
}
/** 403: the token lacks a scope. */
export declare class ForbiddenError extends ApiError {
    name: string;
}
/** 404: no such job of this token. */
export declare class NotFoundError extends ApiError {
    name: string;
}
/** 429: over a rate limit; `retryAfterSeconds` says how long. */
export declare class RateLimitedError extends ApiError {
    name: string;
}
/** 503, after the retries: `code` says why. */
export declare class UnavailableError extends ApiError {
    name: string;
}
/** 413 or 422: the upload is invalid; `items` list the reasons. */
export declare class ValidationError extends ApiError {
    name: string;
    readonly items: readonly ValidationItem[];
    constructor(status: number, items: readonly ValidationItem[], requestId: string | null);
}
/** A job failed, or was cancelled. */
export declare class JobFailedError extends UndertoneError {
    name: string;
    readonly job: Job;
    /** Such as `deadline` or `worker_lost`; null for an invalid recording. */
    readonly code: Failure['code'] | null;
    /** Of an invalid recording: the reasons. */
    readonly items: readonly ValidationItem[];
    constructor(job: Job);
}
/** A callback without a valid signature. */
export declare class WebhookError extends UndertoneError {
    name: string;
}
/** A live session ended without a report, or is over. */
export declare class SessionEndedError extends UndertoneError {
    name: string;
    /** The close code of the WebSocket. */
    readonly code: number;
    /** The close code in words, such as `idle`. */
    readonly reason: string;
    constructor(code: number, reason: string);
}
/** The body of an error, over HTTP or in a message. */
export type ErrorBody = {
    readonly detail: Failure['detail'] | ValidationFailure['detail'];
    readonly code?: Failure['code'];
};
/** Returns the error of a response other than 200. */
export declare function readError(response: Response): Promise<ApiError>;
export declare function toApiError(status: number, { detail, code }: ErrorBody, requestId: string | null): ApiError;
