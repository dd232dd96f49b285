/** Fetches the recording of a job. A slow download releases the analysis slot. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Permit } from './fair-semaphore.ts';
import { ReservationError } from './http-client.ts';
import { fetchAudio, fetchFailed, RetryableFetchError } from './remote-audio.ts';
import { type QueueJob, shareKeys, type WorkerContext } from './worker-context.ts';

/** Downloads up to this long keep their slot and need no reservation. */
const slowAfterMs = 250;

type RemoteRecording = {
  readonly job: QueueJob;
  readonly owner: string;
  readonly url: string;
  readonly permit: Permit;
  readonly signal: AbortSignal;
};

/** @throws ReservationError at the share of the owner or the host, ServiceError when a retry is useless */
export async function fetchRecording(
  { config, fetchedBytes, slowFetches }: WorkerContext,
  { job, owner, url, permit, signal }: RemoteRecording,
): Promise<Uint8Array> {
  const keys = shareKeys(owner, url);
  const [bytes, download] = [fetchedBytes.open(keys), slowFetches.open(keys)];
  const done = new AbortController();
  try {
    const fetching = fetchAudio(url, config.jobs, AbortSignal.any([signal, done.signal]), bytes.add);
    const fetched = await Promise.race([fetching, sleep(slowAfterMs, null)]);
    if (fetched !== null) return fetched;
    if (!download.add(1)) throw new ReservationError('Expected a free slow download, got none');
    return await permit.releaseDuring(fetching);
  } catch (error) {
    const last = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
    throw last && error instanceof RetryableFetchError ? fetchFailed(error.message) : error;
  } finally {
    done.abort();
    bytes.release();
    download.release();
  }
}
