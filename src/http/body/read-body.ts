/** Reads the raw body of an upload within limits on size, time, rate and the account's share of memory. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, Middleware, Next } from 'koa';
import { ServiceError, tooLarge } from '../../runtime/errors.ts';
import type { FairBudget } from '../../runtime/fair-budget.ts';
import type { State } from '../state.ts';
import { attachReader, type BodyLimits } from './body-guard.ts';
import { overByteShare } from './byte-budget.ts';
import { createBlocks } from './transferable-blocks.ts';

export type Upload = {
  /** The whole body; each block owns its ArrayBuffer, so that it can be transferred. */
  readonly blocks: readonly Uint8Array[];
  /** Call when the bytes are no longer needed. */
  release(): void;
};

export type UploadOptions = BodyLimits & {
  readonly maxBytes: number;
  readonly budget: FairBudget;
  readonly account: string;
};

const coding = /^[\w -]{1,32}$/;

/** Refuses compressed bodies (RFC 9112, section 6.1; RFC 9110, section 15.5.16). */
export function refuseCodings(): Middleware<State> {
  return async function codings({ req: { headers } }: Context, next: Next) {
    const transfer = headers['transfer-encoding'] ?? 'chunked';
    if (transfer.trim().toLowerCase() !== 'chunked')
      throw new ServiceError('transfer_coding', 'Expected chunked for `Transfer-Encoding`, got another');
    const content = headers['content-encoding']?.trim() || 'identity';
    if (content.toLowerCase() === 'identity') return next();
    const got = coding.test(content) ? content : 'another';
    const message = `Expected no \`Content-Encoding\`, got ${got}: send the body without compression`;
    throw new ServiceError('content_coding', message);
  };
}

/** Sends 100 Continue to a client that waits for it. */
export function sendContinue({ headers }: IncomingMessage, response: ServerResponse): void {
  if (/^100-continue$/i.test(headers.expect ?? '')) response.writeContinue();
}

/** Returns null when the client aborted. Every outcome removes listeners and timers; only success keeps bytes. */
export function readBody(request: IncomingMessage, options: UploadOptions): Promise<Upload | null> {
  const body = createBody(options);
  return new Promise((resolve, reject) => {
    attachReader(request, options, (detach) => {
      function fail(error: ServiceError): void {
        detach();
        body.release();
        reject(error);
      }
      return {
        receive(chunk) {
          const error = body.add(chunk);
          if (error !== null) fail(error);
        },
        finish() {
          detach();
          resolve({ blocks: body.blocks(), release: body.release });
        },
        close() {
          detach();
          body.release();
          resolve(null);
        },
        fail,
      };
    });
  });
}

type Body = {
  /** Returns an error when the chunk exceeds a limit, else null. */
  add(chunk: Buffer): ServiceError | null;
  blocks(): readonly Uint8Array[];
  release(): void;
};

function createBody({ account, budget, maxBytes }: UploadOptions): Body {
  const blocks = createBlocks();
  const reservation = budget.open([account]);
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
