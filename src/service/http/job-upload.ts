/** The multipart body of a job, streamed block by block to where recordings wait. */
import type { IncomingMessage } from 'node:http';
import { tooLarge } from '../errors.ts';
import type { Reservation } from '../fair-share.ts';
import type { UploadedForm, UploadSettings, Uploads } from '../jobs/uploads.ts';
import { attachReader, type BodyLimits, createBlocks, overByteShare } from './body.ts';

export type JobUploadOptions = BodyLimits &
  UploadSettings & {
    readonly owner: string;
    /** Id of the new job. */
    readonly id: string;
    readonly uploads: Uploads;
    /** Bytes that have arrived and do not wait for a worker yet. */
    readonly memory: Reservation;
  };

/** Limit for a form without its recordings. */
const maxFormBytes = 2 ** 22;
/** High and low watermark of one upload in memory; a block on its way is smaller. */
const maxUnreleasedBytes = 2 ** 21;
const resumeBytes = 2 ** 20;

export const maxBodyBytes = (maxBytes: number): number => maxBytes + maxFormBytes;

/** Returns null when the client aborted. An abort or error deletes the upload. @throws ServiceError */
export function uploadJob(request: IncomingMessage, options: JobUploadOptions): Promise<UploadedForm | null> {
  const { maxBytes, memory } = options;
  const blocks = createBlocks();
  let received = 0;
  let unreleased = 0;
  let ended = false;
  const upload = options.uploads.start(options.id, { ...options, onReleased: release });

  function release(bytes: number): void {
    memory.release(bytes);
    unreleased -= bytes;
    if (unreleased <= resumeBytes && request.isPaused()) request.resume();
  }

  function forward(chunk: Buffer): void {
    unreleased += chunk.length;
    blocks.add(chunk);
    for (const block of blocks.takeFull()) upload.write(block);
    if (unreleased > maxUnreleasedBytes) request.pause();
  }

  return new Promise((resolve, reject) => {
    attachReader(request, options, (detach) => {
      function stop(): void {
        detach();
        upload.abort();
        release(unreleased);
      }
      function fail(error: unknown): void {
        stop();
        reject(error);
      }
      upload.result.then((form) => {
        stop();
        resolve(form);
      }, fail);
      return {
        receive(chunk) {
          received += chunk.length;
          if (received > maxBodyBytes(maxBytes)) fail(tooLarge(maxBytes));
          else if (!memory.add(chunk.length)) fail(overByteShare());
          else forward(chunk);
        },
        finish() {
          ended = true;
          for (const block of blocks.takeAll()) upload.write(block);
          upload.end();
        },
        close() {
          if (ended) return;
          stop();
          resolve(null);
        },
        fail,
      };
    });
  });
}
