/** Messages between the main thread and the upload thread. */
import type { Form } from '../multipart/form.ts';
import type { JobSettings } from '../runtime/config.ts';
import type { SerializedError } from '../runtime/errors.ts';

/** The `workerData` of the thread. */
export type UploadThreadData = {
  readonly redisUrl: string;
  readonly secret: string;
  readonly settings: Pick<JobSettings, 'audioSeconds' | 'uploadSeconds'>;
};

export type UploadSettings = {
  readonly boundary: string;
  /** False only computes the digest, without writing to Redis. */
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
  | { readonly kind: 'done'; readonly upload: UploadedForm }
  /** `failure` is null for an internal error. */
  | { readonly kind: 'failed'; readonly failure: SerializedError | null; readonly cause: unknown }
);

export type UploadedForm = Form & {
  /** From `digestRequest`. */
  readonly digest: string;
};
