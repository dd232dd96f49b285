/**
 * Recordings that wait, and the bytes of payloads in the queue, in the memory of the service. They are as safe here as those of
 * requests, so nothing is encrypted.
 */

import type { JobSettings } from '../config.ts';
import { createFairBudget, type Reservation } from '../fair-share.ts';
import type { RecordingName } from '../form.ts';
import { overJobShare, type UploadStore, uploadExpirySeconds } from './upload-store.ts';

/** Of setTimeout. */
const maxTimerMs = 2 ** 31 - 1;

type Upload = {
  readonly parts: Map<RecordingName, Uint8Array[]>;
  readonly memory: Reservation;
  expiry: NodeJS.Timeout;
};

export function createMemoryUploads(
  settings: Pick<JobSettings, 'audioSeconds' | 'uploadSeconds' | 'bufferBytes'>,
): UploadStore {
  const limit = 'UNDERTONE_JOB_BUFFER_BYTES';
  const uploads = new Map<string, Upload>();
  /** By job. */
  const payloads = new Map<string, Reservation>();
  const budget = createFairBudget(settings.bufferBytes);
  const expireAfter = (id: string, seconds: number) =>
    setTimeout(() => remove(id), Math.min(maxTimerMs, 1000 * seconds)).unref();

  function open(id: string, owner: string): Upload {
    const memory = budget.open([owner]);
    const upload = { parts: new Map(), memory, expiry: expireAfter(id, uploadExpirySeconds(settings)) };
    uploads.set(id, upload);
    return upload;
  }

  function remove(id: string): void {
    const upload = uploads.get(id);
    if (upload === undefined) return;
    uploads.delete(id);
    clearTimeout(upload.expiry);
    upload.memory.release();
  }

  return {
    async append({ id, owner, part, bytes }) {
      const upload = uploads.get(id) ?? open(id, owner);
      if (!upload.memory.add(bytes.length)) throw overJobShare(limit);
      const chunks = upload.parts.get(part) ?? [];
      chunks.push(bytes);
      upload.parts.set(part, chunks);
    },
    async reserve(id, owner, bytes) {
      const memory = budget.open([owner]);
      if (!memory.add(bytes)) throw overJobShare(limit);
      payloads.set(id, memory);
    },
    async keep(id) {
      const upload = uploads.get(id);
      if (upload === undefined) return false;
      clearTimeout(upload.expiry);
      upload.expiry = expireAfter(id, settings.audioSeconds);
      return true;
    },
    async read(id, part) {
      const chunks = uploads.get(id)?.parts.get(part);
      // A copy: a thread gets it, and a further attempt may follow.
      return chunks === undefined ? null : new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
    },
    async delete(id) {
      remove(id);
      payloads.get(id)?.release();
      payloads.delete(id);
    },
    countHeld: async () => budget.used(),
  };
}
