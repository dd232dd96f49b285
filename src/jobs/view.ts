/** A job as its holder sees it, in JSON; the callback carries the same. */
import { Failure, type FailureRecord } from '../errors.ts';
import type { JobRow } from './store.ts';

export type JobProgress = {
  readonly analysed_s: number;
  /** Null when the recording does not say. */
  readonly duration_s: number | null;
};

/** Of a job that has not ended. */
export type Standing = { readonly status: 'waiting' | 'running'; readonly progress: JobProgress | null };

export type JobView = {
  readonly id: string;
  readonly status: 'waiting' | 'running' | 'done' | 'failed';
  readonly created_at: string;
  readonly finished_at: string | null;
  /** The job and its result are gone from then on. */
  readonly expires_at: string;
  readonly progress: JobProgress | null;
  readonly result: object | null;
  /** As the body of an error, without `request_id`. */
  readonly error: object | null;
};

export function viewOf(row: JobRow, standing: Standing | null): JobView {
  const body = row.body === null ? null : (JSON.parse(row.body) as object);
  const time = (ms: number) => new Date(Number(ms)).toISOString();
  return {
    id: row.id,
    status: row.outcome ?? standing?.status ?? 'waiting',
    created_at: time(row.created_at),
    finished_at: row.finished_at === null ? null : time(row.finished_at),
    expires_at: time(row.expires_at),
    progress: row.outcome === null ? (standing?.progress ?? null) : null,
    result: row.outcome === 'done' ? body : null,
    error: row.outcome === 'failed' ? body : null,
  };
}

export function isProgress(value: unknown): value is JobProgress {
  return typeof value === 'object' && value !== null && 'analysed_s' in value;
}

/** What a job that failed keeps. */
export function errorBody({ code, message, items }: FailureRecord): string {
  return JSON.stringify(items.length > 0 ? { detail: items } : { detail: message, code });
}

export const lostBody = errorBody(new Failure('queue_unavailable', 'The queue lost this job; send it again'));
