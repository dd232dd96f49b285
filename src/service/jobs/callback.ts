/** Sends one callback of the queue. */

import { createHmac } from 'node:crypto';
import type { FairBudget } from '../fair-share.ts';
import { cancelledJob, type StoredJob, streamEvent, toStoredJob } from './job-json.ts';
import { sendRequest, shareKeys } from './outgoing-request.ts';
import type { Payload } from './payload.ts';
import { PutBack, type QueueJob } from './queues.ts';
import { requireDatabase, startJob, type WorkerContext } from './start-job.ts';

export async function processCallback(
  context: WorkerContext,
  budget: FairBudget,
  job: QueueJob,
): Promise<void> {
  await requireDatabase(context, job, () => attempt(context, budget, job));
}

async function attempt(context: WorkerContext, budget: FairBudget, job: QueueJob): Promise<void> {
  const { config, cipher, logger, results } = context;
  const { id } = job;
  const payload = await startJob(context, job);
  const { callback, owner } = payload;
  if (callback === null) return;
  const reservation = budget.open(shareKeys(owner, callback));
  if (!reservation.add(1)) throw new PutBack({ turnOf: owner });
  try {
    const ended = await findEnded(context, job, payload);
    if (ended === null) return;
    const delivered = await deliver({
      id,
      url: callback,
      body: () => streamEvent(ended, results.pieces),
      secret: cipher.callbackSecret(owner),
      privateHosts: config.jobs.privateHosts,
      now: Date.now(),
      signal: context.stop,
    });
    logger.info({ job_id: id, delivered }, 'callback sent');
  } catch (error) {
    throw context.stop.aborted ? new PutBack('first') : error;
  } finally {
    reservation.release();
  }
}

/** Null when the job was removed after its end. */
async function findEnded(
  { cipher, store }: WorkerContext,
  job: QueueJob,
  { cancelledAt, metadata }: Payload,
): Promise<StoredJob | null> {
  const { id, createdAt } = job;
  if (cancelledAt !== null) return cancelledJob(id, createdAt, cancelledAt, metadata);
  const row = await store.read(id);
  return row === null || row.outcome === null ? null : toStoredJob(cipher, row, null);
}

// Callbacks as in the Standard Webhooks specification.

type Delivery = {
  readonly id: string;
  readonly url: string;
  /** Read twice: for the signature, and for the request. */
  readonly body: () => AsyncIterable<string | Uint8Array>;
  /** `whsec_` followed by base64. */
  readonly secret: string;
  readonly privateHosts: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly signal: AbortSignal;
};

const timeoutSeconds = 15;
const gone = 410;

/** Returns false for 410, which ends delivery. @throws Error when a retry may succeed */
async function deliver({ id, url, body, secret, privateHosts, now, signal }: Delivery): Promise<boolean> {
  const timestamp = String(Math.floor(now / 1000));
  const limit = AbortSignal.any([signal, AbortSignal.timeout(1000 * timeoutSeconds)]);
  const { signature, bytes } = await sign(secret, `${id}.${timestamp}.`, body(), limit);
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(bytes),
    'User-Agent': 'undertone',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  };
  const limits = { privateHosts, seconds: timeoutSeconds, maxBytes: null, signal };
  const { status } = await sendRequest({ method: 'POST', url, headers, body: body(), ...limits });
  if (status === gone) return false;
  if (status >= 200 && status < 300) return true;
  throw new Error(`Expected 2xx from the callback, got ${status}`);
}

/** Signs what precedes the body and the body, as Standard Webhooks does. Rejects once `signal` aborts. */
async function sign(
  secret: string,
  before: string,
  body: AsyncIterable<string | Uint8Array>,
  signal: AbortSignal,
) {
  const hmac = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64')).update(before);
  let bytes = 0;
  for await (const piece of body) {
    signal.throwIfAborted();
    hmac.update(piece);
    bytes += Buffer.byteLength(piece);
  }
  return { signature: `v1,${hmac.digest('base64')}`, bytes };
}
