/** Cancels a job that has not ended. */

import type { Cipher } from './cipher.ts';
import type { JobsContext } from './context.ts';
import { decryptPayload, type EncryptedPayload, encryptCallback, type Payload } from './payload.ts';
import { findQueued } from './queue-state.ts';

/** A running job is ended by its worker, which also sends the callback. */
export async function cancelJob(context: JobsContext, id: string): Promise<void> {
  const { store, queues, cipher, uploadStore, withRedis } = context;
  const queued = await withRedis(() => findQueued(queues, id));
  if (!(await store.cancel(id))) return store.delete(id);
  await withRedis(async () => {
    await uploadStore.delete(id);
    if (queued === null) return;
    const { entry, queue } = queued;
    const payload = readPayload(entry.payload, id, cipher);
    if (payload === null || !(await queue.remove(id, payload.owner)) || payload.callback === null) return;
    const { owner } = payload;
    const cancelled = encryptCallback({ ...payload, cancelledAt: Date.now() }, id, cipher);
    await queues.callbacks.add({ id, owner, payload: cancelled, createdAt: entry.createdAt });
  });
}

/** Null for a payload of a later release, whose worker finds the job removed. */
function readPayload(encrypted: EncryptedPayload, id: string, cipher: Cipher): Payload | null {
  try {
    return decryptPayload(encrypted, id, cipher);
  } catch {
    return null;
  }
}
