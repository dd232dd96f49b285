/** Collects the raw body of an upload, bounded in size, in time, in rate and in the account's share of the memory. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ServiceError, tooLarge } from '../../runtime/errors.ts';
import { type BodyLimits, guardBody } from './body-guard.ts';
import { type ByteBudget, createReservation, overByteShare } from './byte-budget.ts';
import { createBlocks } from './read-body.ts';

export type Upload = {
  /** The body from its first byte to its last; each block owns its whole buffer, so that it can be transferred. */
  readonly blocks: readonly Uint8Array[];
  /** To be called once the bytes are not needed any more. */
  release(): void;
};

export type UploadOptions = BodyLimits & {
  readonly maxBytes: number;
  readonly budget: ByteBudget;
  readonly account: string;
};

/** @throws Failure when Content-Length alone tells that the body is too large */
export function checkLength(request: IncomingMessage, maxBytes: number): void {
  if (declaredLength(request) > maxBytes) throw tooLarge(maxBytes);
}

/** For a client that waits until its body is wanted. */
export function sendContinue({ headers }: IncomingMessage, response: ServerResponse): void {
  if (/^100-continue$/i.test(headers.expect ?? '')) response.writeContinue();
}

/** Null when the client left before the end. Whatever the way out, listeners, timers and bytes are let go. */
export function readBody(request: IncomingMessage, options: UploadOptions): Promise<Upload | null> {
  const body = createBody(options);
  return new Promise((resolve, reject) => {
    const stopGuard = guardBody(request, options, fail);
    function detach(): void {
      stopGuard();
      request.off('data', receive).off('end', finish).off('close', leave).off('error', leave);
      request.on('error', ignore);
    }
    function finish(): void {
      detach();
      resolve({ blocks: body.blocks(), release: body.release });
    }
    function leave(): void {
      detach();
      body.release();
      resolve(null);
    }
    function fail(failure: ServiceError): void {
      detach();
      body.release();
      reject(failure);
    }
    function receive(chunk: Buffer): void {
      const failure = body.add(chunk);
      if (failure !== null) fail(failure);
    }
    request.on('data', receive).on('end', finish).on('close', leave).on('error', leave);
    const reason = options.shutdown.reason();
    if (reason !== null) fail(reason);
    else if (request.destroyed) leave();
  });
}

type Body = {
  /** Null, or why the chunk cannot be taken. */
  add(chunk: Buffer): ServiceError | null;
  blocks(): readonly Uint8Array[];
  release(): void;
};

function createBody({ account, budget, maxBytes }: UploadOptions): Body {
  const blocks = createBlocks();
  const reservation = createReservation(budget, account);
  let length = 0;
  return {
    add: (chunk) => {
      if (length + chunk.length > maxBytes) return tooLarge(maxBytes);
      if (!reservation.add(chunk.length)) return overByteShare();
      length += chunk.length;
      blocks.add(chunk);
      return null;
    },
    blocks: blocks.takeAll,
    release: reservation.release,
  };
}

export function declaredLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

/** A connection that breaks after its upload was given up is nobody's concern. */
function ignore(): void {}
