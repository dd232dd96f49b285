/** Jobs: recordings of hours, and lists of URLs, analysed in the background. */
import type { CallOptions, ClientOptions, FormOptions } from './client.ts';
import type { Recording } from './recording.ts';
import type { Job, JobResult, JobSummary, NewJob, NewJobs } from './reports.ts';
type NewJobOptions = {
    /** URL that receives the finished job. */
    readonly callback?: string;
    /** A repeat with the same key returns the existing job; a new key for each call when left out. */
    readonly idempotencyKey?: string;
};
/** An upload may take 10 minutes unless `timeoutMs` is set here or in the client. */
export type JobOptions = FormOptions & NewJobOptions;
export type UrlOptions = CallOptions & NewJobOptions & Pick<JobOptions, 'channel' | 'channels' | 'receipt'>;
export type GetOptions = CallOptions & {
    /** The answer comes when the job has ended, after so many seconds at the latest; up to 60, 0 when left out. */
    readonly waitSeconds?: number;
};
export type WaitOptions = CallOptions & {
    /** Called with each state of the job, `progress` included, when it has changed. */
    readonly onProgress?: (job: Job) => void;
    /** Longest time between two states; 5 s when left out. The end is reported at once. */
    readonly maxDelayMs?: number;
};
/** Calls throw ApiError and its subclasses, or NoAnswerError. */
export type Jobs = {
    submit(audio: Recording, options?: JobOptions): Promise<NewJob>;
    /** One job per URL, in the same order. */
    submitUrls(urls: readonly string[], options?: UrlOptions): Promise<NewJobs>;
    get(id: string, options?: GetOptions): Promise<Job>;
    /** Resolves with the report. @throws JobFailedError */
    wait(id: string, options?: WaitOptions): Promise<JobResult>;
    /** Every job, newest first, page by page. */
    list(options?: CallOptions): AsyncGenerator<JobSummary, void, undefined>;
    /** Cancels a job that has not ended, and deletes one that has. */
    cancel(id: string, options?: CallOptions): Promise<void>;
};
export declare function createJobs(client: ClientOptions): Jobs;
export {};
