import type { Failure, ValidationFailure } from './reports.ts';
export type ValidationItem = ValidationFailure['detail'][number];
/** Whatever a call throws, but for an abort by its own signal. */
export declare class UndertoneError extends Error {
    name: string;
}
/** Nothing came back: no connection, or not in time. `cause` says more. */
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
/** 413 or 422: the upload cannot be taken, and `items` say why. */
export declare class ValidationError extends ApiError {
    name: string;
    readonly items: readonly ValidationItem[];
    constructor(status: number, items: readonly ValidationItem[], requestId: string | null);
}
/** The error that an answer other than 200 stands for. */
export declare function readError(response: Response): Promise<ApiError>;
