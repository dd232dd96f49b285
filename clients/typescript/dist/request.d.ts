/** One request with its retries. */
import type { CallOptions, ClientOptions } from './client.ts';
export declare const defaultTimeoutMs = 60000;
export declare function baseOf({ url }: ClientOptions): URL;
export declare function toJson(value: object): Pick<RequestInit, 'body' | 'headers'>;
/** @throws ApiError, NoAnswerError */
export declare function request<Answer>(path: string, content: RequestInit, options: ClientOptions & CallOptions): Promise<Answer>;
