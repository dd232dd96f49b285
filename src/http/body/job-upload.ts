/** The body of a job: passed on block by block as it arrives, so that an upload of hours is never held. */
import type { IncomingMessage } from 'node:http';
import type { UploadedForm, Uploads } from '../../jobs/uploads.ts';
import { tooLarge } from '../../runtime/errors.ts';
import { type BodyLimits, guardBody } from './body-guard.ts';
import { overByteShare, type Reservation } from './byte-budget.ts';
import { createBlocks } from './read-body.ts';

export type JobUploadOptions = BodyLimits & {
  /** Of the job to create. */
  readonly id: string;
  /** False: the form is read for its digest alone, and nothing is written to Redis. */
  readonly keep: boolean;
  readonly boundary: string;
  readonly uploads: Uploads;
  /** For the bytes that have arrived and are not in Redis yet. */
  readonly memory: Reservation;
  /** Of both recordings together. */
  readonly maxBytes: number;
};

/** Of a form, beside its recordings. */
const maxFormBytes = 2 ** 22;
/** Bytes of one upload in memory at which the client has to wait, and at which it may go on: a piece on its way to Redis is less. */
const maxUnreleasedBytes = 2 ** 21;
const resumeBytes = 2 ** 20;

export const maxBodyBytes = (maxBytes: number): number => maxBytes + maxFormBytes;

/** Null when the client left before the end. Nothing is left in Redis then, or after a failure. @throws Failure */
export function uploadJob(request: IncomingMessage, options: JobUploadOptions): Promise<UploadedForm | null> {
  const { shutdown, maxBytes, memory } = options;
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

  function pass(chunk: Buffer): void {
    unreleased += chunk.length;
    blocks.add(chunk);
    for (const block of blocks.takeFull()) upload.write(block);
    if (unreleased > maxUnreleasedBytes) request.pause();
  }

  return new Promise((resolve, reject) => {
    const stopGuard = guardBody(request, options, fail);

    function detach(): void {
      stopGuard();
      request.off('data', receive).off('end', finish).off('close', leave).off('error', leave);
      request.on('error', () => {});
      upload.abort();
      release(unreleased);
    }
    function fail(error: unknown): void {
      detach();
      reject(error);
    }
    function leave(): void {
      if (ended) return;
      detach();
      resolve(null);
    }
    function receive(chunk: Buffer): void {
      received += chunk.length;
      if (received > maxBodyBytes(maxBytes)) fail(tooLarge(maxBytes));
      else if (!memory.add(chunk.length)) fail(overByteShare());
      else pass(chunk);
    }
    function finish(): void {
      ended = true;
      for (const block of blocks.takeAll()) upload.write(block);
      upload.end();
    }
    request.on('data', receive).on('end', finish).on('close', leave).on('error', leave);
    const reason = shutdown.reason();
    if (reason !== null) fail(reason);
    else if (request.destroyed) leave();
    upload.result.then((form) => {
      detach();
      resolve(form);
    }, fail);
  });
}
