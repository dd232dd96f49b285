/** JSON of a job, as in responses and callbacks. */
import type { z } from 'zod';
import type { jobSchemas } from '../api/job-schemas.ts';
import { errorJson, type SerializedError, ServiceError } from '../errors.ts';
import type { Metadata } from '../metadata.ts';
import type { Cipher } from './cipher.ts';
import type { JobRow, ListedRow } from './job-store.ts';
import { decryptMetadata } from './payload.ts';

export type JobProgress = Readonly<z.infer<(typeof jobSchemas)['JobProgress']>>;
export type JobSummary = Readonly<z.infer<(typeof jobSchemas)['JobSummary']>>;
/** A job without its report, which `streamJob` reads from the database: that of hours has megabytes. */
export type StoredJob = JobSummary & {
  /** The body of an error response without `request_id`. */
  readonly errorJson: string | null;
  /** Of the result or the error; 0 before there is one. */
  readonly bytes: number;
};

/** No process takes jobs. */
export type WaitReason = 'no_worker';

export type QueueState = {
  readonly status: 'waiting' | 'running';
  readonly progress: JobProgress | null;
  readonly reason: WaitReason | null;
};

export function toJobSummary(cipher: Cipher, row: ListedRow, state: QueueState | null): JobSummary {
  return {
    id: row.id,
    status: row.outcome ?? state?.status ?? 'waiting',
    reason: row.outcome === null ? (state?.reason ?? null) : null,
    created_at: toTime(row.created_at),
    finished_at: row.finished_at === null ? null : toTime(row.finished_at),
    expires_at: toTime(row.expires_at),
    progress: row.outcome === null ? (state?.progress ?? null) : null,
    metadata: decryptMetadata(row.metadata, row.id, cipher),
  };
}

export function toStoredJob(cipher: Cipher, row: JobRow, state: QueueState | null): StoredJob {
  return {
    ...toJobSummary(cipher, row, state),
    errorJson: row.body,
    bytes: Number(row.bytes),
  };
}

/** A job that is not done. @param more further members @returns JSON text */
export function encodeJob(job: StoredJob, more: object = {}): string {
  return encodeAround(job, more).join('null');
}

/** The text before the result and after it. */
function encodeAround(
  { errorJson, bytes: _, ...summary }: StoredJob,
  more: object,
): readonly [before: string, after: string] {
  const members = JSON.stringify({ ...more, ...summary }).slice(0, -1);
  return [`${members},"result":`, `,"error":${errorJson ?? 'null'}}`];
}

/** The JSON text of the result of a job. */
type Pieces = (job: StoredJob) => AsyncIterable<Uint8Array>;

/** As `encodeJob`, with the result from the database. */
export async function* streamJob(
  job: StoredJob,
  more: object,
  pieces: Pieces,
): AsyncGenerator<string | Uint8Array> {
  const [before, after] = encodeAround(job, more);
  yield before;
  if (job.status === 'done') yield* pieces(job);
  else yield 'null';
  yield after;
}

/** As `encodeJobs`, with the results from the database. */
export async function* streamJobs(
  jobs: readonly StoredJob[],
  more: object,
  pieces: Pieces,
): AsyncGenerator<string | Uint8Array> {
  const [before, after] = encodeAroundJobs(more);
  yield before;
  for (const [index, job] of jobs.entries()) {
    if (index > 0) yield ',';
    yield* streamJob(job, {}, pieces);
  }
  yield after;
}

/** @param more further members @returns JSON text: `{"jobs": [...]}` */
export function encodeJobs(jobs: readonly StoredJob[], more: object): string {
  return encodeAroundJobs(more).join(jobs.map((job) => encodeJob(job)).join(','));
}

/** The text before the jobs and after them. */
function encodeAroundJobs(more: object): readonly [before: string, after: string] {
  const members = Object.entries(more).map(([name, value]) => `,"${name}":${JSON.stringify(value)}`);
  return ['{"jobs":[', `]${members.join('')}}`];
}

/** The body of a callback, as JSON text: the job, with `type` and `timestamp` as in Standard Webhooks. */
export function streamEvent(job: StoredJob, pieces: Pieces): AsyncGenerator<string | Uint8Array> {
  return streamJob(job, { type: `job.${job.status}`, timestamp: job.finished_at }, pieces);
}

/** A job that was removed before its end. Times are ms since 1970. */
export function cancelledJob(
  id: string,
  createdAt: number,
  cancelledAt: number,
  metadata: Metadata,
): StoredJob {
  return {
    id,
    status: 'cancelled',
    reason: null,
    created_at: toTime(createdAt),
    finished_at: toTime(cancelledAt),
    expires_at: toTime(cancelledAt),
    progress: null,
    metadata,
    errorJson: null,
    bytes: 0,
  };
}

/** PostgreSQL returns 64-bit integers as text. */
function toTime(ms: number): string {
  return new Date(Number(ms)).toISOString();
}

export function isProgress(value: unknown): value is JobProgress {
  return typeof value === 'object' && value !== null && 'analysed_s' in value;
}

export function storedError(error: SerializedError): string {
  return JSON.stringify(errorJson(error));
}

export const lostJobBody = storedError(
  new ServiceError('queue_unavailable', 'The queue lost this job; send it again'),
);
