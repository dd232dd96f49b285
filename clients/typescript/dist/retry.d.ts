export type RetryOptions = {
    /** After the first attempt. */
    readonly retries: number;
    readonly signal?: AbortSignal | undefined;
};
/** Waits after a lost connection and after such an answer: 1, 2, 4 s and so on, or as long as `Retry-After` says where that is longer. */
export declare function withRetries(attempt: () => Promise<Response>, { retries, signal }: RetryOptions): Promise<Response>;
