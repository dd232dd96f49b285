export type RetryOptions = {
    /** After the first attempt. */
    readonly retries: number;
    readonly signal?: AbortSignal | undefined;
};
/** Delay after a lost connection or such a response: 1, 2, 4 s and so on, or `Retry-After` if that is longer. */
export declare function withRetries(attempt: () => Promise<Response>, { retries, signal }: RetryOptions): Promise<Response>;
export declare function sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
