/** JSON of a job, as in responses and callbacks. */
import type { z } from 'zod';
import type { Metadata } from '../multipart/form.ts';
import { errorJson } from '../openapi/errors.ts';
import type { jobSchemas } from '../openapi/job-schemas.ts';
import { type SerializedError, ServiceError } from '../runtime/errors.ts';
import type { Cipher } from './encryption.ts';
import type { JobRow, ListedRow } from './job-store.ts';
import { decryptMetadata } from './payload.ts';

export type JobProgress = Readonly<z.infer<(typeof jobSchemas)['JobProgress']>>;
export type JobSummary = Readonly<z.infer<(typeof jobSchemas)['JobSummary']>>;
/** A job whose report or error is JSON text, as stored: a report of hours has megabytes, and is never parsed here. */
export type StoredJob = JobSummary & {
  readonly resultJson: string | null;
  /** The body of an error response without `request_id`. */
  readonly errorJson: string | null;
};

export type QueueState = { readonly status: 'waiting' | 'running'; readonly progress: JobProgress | null };

export function toJobSummary(cipher: Cipher, row: ListedRow, state: QueueState | null): JobSummary {
  return {
    id: row.id,
    status: row.outcome ?? state?.status ?? 'waiting',
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
    resultJson: row.outcome === 'done' ? row.body : null,
    errorJson: row.outcome === 'failed' ? row.body : null,
  };
}

/** @param more further members @returns JSON text */
export function encodeJob({ resultJson, errorJson, ...summary }: StoredJob, more: object = {}): string {
  const members = JSON.stringify({ ...more, ...summary }).slice(0, -1);
  return `${members},"result":${resultJson ?? 'null'},"error":${errorJson ?? 'null'}}`;
}

/** @param more further members @returns JSON text: `{"jobs": [...]}` */
export function encodeJobs(jobs: readonly StoredJob[], more: object): string {
  const members = Object.entries(more).map(([name, value]) => `,"${name}":${JSON.stringify(value)}`);
  return `{"jobs":[${jobs.map((job) => encodeJob(job)).join(',')}]${members.join('')}}`;
}

/** The body of a callback, as JSON text: the job, with `type` and `timestamp` as in Standard Webhooks. */
export function encodeEvent(job: StoredJob): string {
  return encodeJob(job, { type: `job.${job.status}`, timestamp: job.finished_at });
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
    created_at: toTime(createdAt),
    finished_at: toTime(cancelledAt),
    expires_at: toTime(cancelledAt),
    progress: null,
    metadata,
    resultJson: null,
    errorJson: null,
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
