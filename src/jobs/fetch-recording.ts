/** Fetches the recording of a job. A server that is slow does not hold an analysis slot. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Permit } from './fair-semaphore.ts';
import { ReservationError } from './http-client.ts';
import { fetchAudio, UnreachableError, unreachable } from './remote-audio.ts';
import { type QueueJob, shareKeys, type WorkerContext } from './worker-context.ts';

/** A fetch keeps the slot for this long: fast servers need no share. */
const slowAfterMs = 250;

export type RemoteRecording = {
  readonly job: QueueJob;
  readonly owner: string;
  readonly url: string;
  readonly slot: Permit;
  readonly end: AbortSignal;
};

/** @throws ReservationError when the owner or the host has its share, Failure for a URL that another attempt would not change */
export async function fetchRecording(
  { config, fetchedBytes, slowFetches }: WorkerContext,
  { job, owner, url, slot, end }: RemoteRecording,
): Promise<Uint8Array> {
  const keys = shareKeys(owner, url);
  const [bytes, place] = [fetchedBytes.open(keys), slowFetches.open(keys)];
  const done = new AbortController();
  try {
    const fetching = fetchAudio(url, config.jobs, AbortSignal.any([end, done.signal]), bytes.add);
    const fetched = await Promise.race([fetching, sleep(slowAfterMs, null)]);
    if (fetched !== null) return fetched;
    if (!place.add(1)) throw new ReservationError('Expected a place for a slow fetch, got none');
    return await slot.releaseDuring(fetching);
  } catch (error) {
    const last = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
    throw last && error instanceof UnreachableError ? unreachable(error.message) : error;
  } finally {
    done.abort();
    bytes.release();
    place.release();
  }
}
