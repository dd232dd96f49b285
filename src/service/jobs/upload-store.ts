/** What waiting jobs hold: their recordings and payloads, within the share of their owner. */

import type { JobSettings } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { RecordingName } from '../form.ts';

/** A piece of a recording. */
export type Chunk = {
  readonly id: string;
  readonly owner: string;
  readonly part: RecordingName;
  readonly index: number;
  readonly bytes: Uint8Array;
};

export type UploadStore = {
  /** Expires with the upload unless `keep` is called. @throws ServiceError `overloaded` above the owner's share: call `delete` */
  append(chunk: Chunk): Promise<void>;
  /** Counts the payload of a job, until `delete`. @throws ServiceError `overloaded` above the owner's share */
  reserve(id: string, owner: string, bytes: number): Promise<void>;
  /** Extends the expiry of the upload of a job. Returns false when it has expired or is missing. */
  keep(id: string): Promise<boolean>;
  /** Returns null when the part has expired or is missing. */
  read(id: string, part: RecordingName, size: number): Promise<Uint8Array | null>;
  /** Deletes the recordings, and releases what the job has of the share. */
  delete(id: string): Promise<void>;
  /** Bytes of all owners. */
  countHeld(): Promise<number>;
};

/** @param limit what sets it */
export function overJobShare(limit: string): ServiceError {
  const message = `Expected waiting jobs within the share of this owner, got more bytes: ${limit} sets the limit`;
  return new ServiceError('overloaded', message, { retryAfterSeconds: 5 });
}

/** Time to create the job of the slowest upload. */
const marginSeconds = 60;

export function uploadExpirySeconds({ uploadSeconds }: Pick<JobSettings, 'uploadSeconds'>): number {
  return Math.ceil(uploadSeconds) + marginSeconds;
}

/** Size of a chunk. */
export const chunkBytes = 512 * 1024;
