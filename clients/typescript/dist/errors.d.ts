import type { Failure, ValidationFailure } from './reports.ts';
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
    constructor(status: number, message: string, code: Failure['code'] | null, requestId: string | null);
}
/** 413 or 422: the upload is invalid; `items` list the reasons. */
export declare class ValidationError extends ApiError {
    name: string;
    readonly items: readonly ValidationItem[];
    constructor(status: number, items: readonly ValidationItem[], requestId: string | null);
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
