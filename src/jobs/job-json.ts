/** JSON of a job, as in responses and callbacks. */
import type { z } from 'zod';
import { errorJson } from '../openapi/errors.ts';
import type { jobSchemas } from '../openapi/job-schemas.ts';
import { type SerializedError, ServiceError } from '../runtime/errors.ts';
import type { JobRow, ListedRow } from './job-store.ts';

export type JobProgress = Readonly<z.infer<(typeof jobSchemas)['JobProgress']>>;
export type JobSummary = Readonly<z.infer<(typeof jobSchemas)['JobSummary']>>;
export type JobJson = JobSummary & {
  readonly result: object | null;
  /** The body of an error response without `request_id`. */
  readonly error: object | null;
};

export type QueueState = { readonly status: 'waiting' | 'running'; readonly progress: JobProgress | null };

export function toJobSummary(row: ListedRow, state: QueueState | null): JobSummary {
  return {
    id: row.id,
    status: row.outcome ?? state?.status ?? 'waiting',
    created_at: toTime(row.created_at),
    finished_at: row.finished_at === null ? null : toTime(row.finished_at),
    expires_at: toTime(row.expires_at),
    progress: row.outcome === null ? (state?.progress ?? null) : null,
  };
}

export function toJobJson(row: JobRow, state: QueueState | null): JobJson {
  const body = row.body === null ? null : (JSON.parse(row.body) as object);
  return {
    ...toJobSummary(row, state),
    result: row.outcome === 'done' ? body : null,
    error: row.outcome === 'failed' ? body : null,
  };
}

/** A job that was removed before its end. Times are ms since 1970. */
export function cancelledJobJson(id: string, createdAt: number, cancelledAt: number): JobJson {
  return {
    id,
    status: 'cancelled',
    created_at: toTime(createdAt),
    finished_at: toTime(cancelledAt),
    expires_at: toTime(cancelledAt),
    progress: null,
    result: null,
    error: null,
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
