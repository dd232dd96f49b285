/** Recordings of waiting jobs: what holds them, and the messages of the upload thread. */

import type { JobSettings } from '../config.ts';
import type { SerializedError } from '../errors.ts';
import type { Form, RecordingName } from '../form.ts';

export type UploadStore = {
  /** Called before the first chunk: the upload uses the share of its owner. */
  open(id: string, owner: string): void;
  /** Appends a chunk. It expires with the upload unless `keep` is called. */
  append(id: string, part: RecordingName, index: number, bytes: Uint8Array): Promise<void>;
  /** Extends the expiry of the upload of a job. Returns false when it has expired or is missing. */
  keep(id: string): Promise<boolean>;
  /** Returns null when the part has expired or is missing. */
  read(id: string, part: RecordingName, size: number): Promise<Uint8Array | null>;
  delete(id: string): Promise<void>;
};

/** Time to create the job of the slowest upload. */
const marginSeconds = 60;

export function uploadExpirySeconds({ uploadSeconds }: Pick<JobSettings, 'uploadSeconds'>): number {
  return Math.ceil(uploadSeconds) + marginSeconds;
}

/** Size of a chunk. */
export const chunkBytes = 512 * 1024;

// Messages between the main thread and the upload thread.

/** The `workerData` of the thread. */
export type UploadThreadData = {
  /** Null: the main thread keeps the chunks. */
  readonly redisUrl: string | null;
  readonly secret: string;
  readonly settings: Pick<JobSettings, 'audioSeconds' | 'uploadSeconds'>;
};

export type UploadSettings = {
  readonly boundary: string;
  /** False only computes the digest, and keeps no chunk. */
  readonly keep: boolean;
  /** Maximum of all recordings together. */
  readonly maxBytes: number;
};

export type UploadCommand = { readonly id: string } & (
  | ({ readonly kind: 'start' } & UploadSettings)
  /** The next bytes of the body, transferred. */
  | { readonly kind: 'block'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }
  | { readonly kind: 'abort' }
);

/** `released`: body bytes whose memory is free again. `done` and `failed` end the upload. */
export type UploadReply = { readonly id: string } & (
  | { readonly kind: 'released'; readonly bytes: number }
  /** Without Redis, transferred. */
  | {
      readonly kind: 'chunk';
      readonly part: RecordingName;
      readonly index: number;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'done'; readonly upload: UploadedForm }
  /** `failure` is null for an internal error. */
  | { readonly kind: 'failed'; readonly failure: SerializedError | null; readonly cause: unknown }
);

export type UploadedForm = Form & {
  /** From `digestRequest`. */
  readonly digest: string;
};
