/** Messages between the main thread and the upload thread. */
import type { JobSettings } from '../config.ts';
import type { SerializedError } from '../errors.ts';
import type { Form } from '../form.ts';
import type { Chunk } from './upload-store.ts';

/** The `workerData` of the thread. */
export type UploadThreadData = {
  /** Null: the main thread keeps the chunks. */
  readonly redisUrl: string | null;
  readonly secret: string;
  readonly settings: Pick<JobSettings, 'audioSeconds' | 'resultSeconds' | 'uploadSeconds'>;
};

export type UploadSettings = {
  /** Whose share of the memory it uses. */
  readonly owner: string;
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
  | ({ readonly kind: 'chunk' } & Chunk)
  | { readonly kind: 'done'; readonly upload: UploadedForm }
  /** `failure` is null for an internal error. */
  | { readonly kind: 'failed'; readonly failure: SerializedError | null; readonly cause: unknown }
);

export type UploadedForm = Form & {
  /** From `digestRequest`. */
  readonly digest: string;
};
