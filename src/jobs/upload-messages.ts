/** What crosses between the main thread and the upload thread. */

import type { Form } from '../multipart/form.ts';
import type { JobSettings } from '../runtime/config.ts';
import type { SerializedError } from '../runtime/errors.ts';

/** Given to the thread once, at its start. */
export type UploadThreadData = {
  readonly redisUrl: string;
  readonly secret: string;
  readonly settings: Pick<JobSettings, 'audioSeconds' | 'uploadSeconds'>;
};

export type UploadCommand = { readonly id: string } & (
  | {
      readonly kind: 'start';
      readonly boundary: string;
      /** False: nothing is written to Redis. */
      readonly keep: boolean;
      /** Of both recordings together. */
      readonly maxBytes: number;
    }
  /** The next bytes of the body; the buffer is transferred. */
  | { readonly kind: 'block'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }
  | { readonly kind: 'abort' }
);

export type UploadReply = {
  readonly id: string;
} /** So many bytes are in Redis or were not needed: their memory is free again. */ & (
  | { readonly kind: 'released'; readonly bytes: number }
  /** The last reply of an upload, as is `failed`. */
  | { readonly kind: 'done'; readonly upload: UploadedForm }
  /** Without a failure it is a fault of ours. */
  | { readonly kind: 'failed'; readonly failure: SerializedError | null; readonly cause: unknown }
);

export type UploadedForm = Form & {
  /** Keyed: the same parts have the same digest, however their bytes were divided and whatever the boundary. */
  readonly digest: string;
};
