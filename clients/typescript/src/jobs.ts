/** Jobs: recordings of hours, and lists of URLs, analysed in the background. */
import type { CallOptions, ClientOptions, FormOptions } from './client.ts';
import { JobFailedError, RateLimitedError } from './errors.ts';
import { makeForm } from './form.ts';
import type { Recording } from './recording.ts';
import type { Job, JobPage, JobResult, JobSummary, NewJob, NewJobs } from './reports.ts';
import { defaultTimeoutMs, request, toJson } from './request.ts';
import { sleep } from './retry.ts';

type NewJobOptions = {
  /** URL that receives the finished job. */
  readonly callback?: string;
  /** Your own data, returned with the job and in the callback; at most 2048 bytes as JSON. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** A repeat with the same key returns the existing job; a new key for each call when left out. */
  readonly idempotencyKey?: string;
};

/** An upload may take 10 minutes unless `timeoutMs` is set here or in the client. */
export type JobOptions = FormOptions & NewJobOptions;

export type UrlOptions = CallOptions &
  NewJobOptions &
  Pick<JobOptions, 'channel' | 'track' | 'channels' | 'speakers' | 'receipt'>;

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
  /** Resolves with the report. After a 429 it waits for `Retry-After` and asks again. @throws JobFailedError */
  wait(id: string, options?: WaitOptions): Promise<JobResult>;
  /** Every job, newest first, page by page. */
  list(options?: CallOptions): AsyncGenerator<JobSummary, void, undefined>;
  /** Cancels a job that has not ended, and deletes one that has. */
  cancel(id: string, options?: CallOptions): Promise<void>;
};

const uploadTimeoutMs = 600_000;
const firstDelayMs = 500;

export function createJobs(client: ClientOptions): Jobs {
  const call = <Answer>(path: string, content: RequestInit, options?: CallOptions) =>
    request<Answer>(path, content, { ...client, ...options });
  const get: Jobs['get'] = (id, { waitSeconds = 0, ...options } = {}) =>
    call<Job>(
      `${pathOf(id)}${waitSeconds > 0 ? `?wait=${Math.ceil(waitSeconds)}` : ''}`,
      {},
      { timeoutMs: (client.timeoutMs ?? defaultTimeoutMs) + 1000 * waitSeconds, ...options },
    );
  return {
    async submit(audio, { callback, metadata, idempotencyKey, ...options } = {}) {
      const body = await makeForm(audio, options);
      if (callback !== undefined) body.append('callback', callback);
      if (metadata !== undefined) body.append('metadata', JSON.stringify(metadata));
      const content = { method: 'POST', body, headers: keyHeader(idempotencyKey) };
      return call<NewJob>('v1/jobs', content, { timeoutMs: client.timeoutMs ?? uploadTimeoutMs, ...options });
    },
    submitUrls(urls, { idempotencyKey, signal, timeoutMs, ...fields } = {}) {
      const { body, headers } = toJson({ urls, ...fields });
      const content = { method: 'POST', body, headers: { ...headers, ...keyHeader(idempotencyKey) } };
      return call<NewJobs>('v1/jobs', content as RequestInit, defined({ signal, timeoutMs }));
    },
    get,
    async wait(id, { onProgress, maxDelayMs = 5000, ...options } = {}) {
      let last = '';
      const maxWaitMs = Math.min(maxDelayMs, (options.timeoutMs ?? Number.POSITIVE_INFINITY) / 2);
      const waitSeconds = Math.floor(maxWaitMs / 1000);
      for (let delayMs = firstDelayMs; ; delayMs = Math.min(2 * delayMs, maxDelayMs)) {
        const askedAt = performance.now();
        const asked = get(id, { ...options, waitSeconds: last === '' ? 0 : waitSeconds });
        const job = await asked.catch((error: unknown) => {
          if (error instanceof RateLimitedError) return error;
          throw error;
        });
        if (job instanceof RateLimitedError) {
          await sleep(1000 * (job.retryAfterSeconds ?? 1), options.signal);
          continue;
        }
        const state = JSON.stringify([job.status, job.progress]);
        if (state !== last) onProgress?.(job);
        last = state;
        if (job.result != null) return job.result;
        if (job.status === 'failed' || job.status === 'cancelled') throw new JobFailedError(job);
        await sleep(Math.max(0, delayMs - (performance.now() - askedAt)), options.signal);
      }
    },
    async *list(options) {
      for (let path: string | null = '/v1/jobs'; path !== null; ) {
        const page: JobPage = await call<JobPage>(path.slice(1), {}, options);
        yield* page.jobs;
        path = page.next;
      }
    },
    async cancel(id, options) {
      await call(pathOf(id), { method: 'DELETE' }, options);
    },
  };
}

const pathOf = (id: string) => `v1/jobs/${encodeURIComponent(id)}`;

/** A request that is retried after a lost connection creates one job. */
function keyHeader(key: string = randomKey()): Readonly<Record<string, string>> {
  return { 'Idempotency-Key': key };
}

/** `crypto.randomUUID` exists on secure pages alone. */
function randomKey(): string {
  return Array.from({ length: 4 }, () => Math.random().toString(36).slice(2)).join('');
}

function defined(options: { signal: AbortSignal | undefined; timeoutMs: number | undefined }): CallOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
