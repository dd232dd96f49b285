/** The request that waits for log-in, in this browser's storage until the playground opens again. */

import type { AnalysisRequest } from './playground/analyze.ts';

type Stored = AnalysisRequest & { readonly until: number };

/** Afterwards the recording is dropped. */
const keepMs = 15 * 60_000;
const store = 'pending';
const key = 'recording';

/** Replaces the recording that waits. */
export async function keepPending(request: AnalysisRequest): Promise<void> {
  await run((records) => records.put({ ...request, until: Date.now() + keepMs } satisfies Stored, key));
}

/** Returns the recording that waits and removes it; null without one, or after its time. */
export async function takePending(): Promise<AnalysisRequest | null> {
  const stored: Stored | undefined = await run((records) => {
    const read = records.get(key);
    records.delete(key);
    return read;
  });
  return stored !== undefined && stored.until > Date.now() ? stored : null;
}

/** Removes the recording that waits when its time is over. */
export async function hasPending(): Promise<boolean> {
  const stored: Stored | undefined = await run((records) => records.get(key));
  if (stored !== undefined && stored.until > Date.now()) return true;
  if (stored !== undefined) await dropPending();
  return false;
}

export async function dropPending(): Promise<void> {
  await run((records) => records.delete(key));
}

async function run<T>(work: (records: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const opening = indexedDB.open('undertone', 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(store);
  const database = await settled(opening);
  const transaction = database.transaction(store, 'readwrite');
  try {
    const result = await settled(work(transaction.objectStore(store)));
    await committed(transaction);
    return result;
  } finally {
    database.close();
  }
}

/** The page may be left after it. */
function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
