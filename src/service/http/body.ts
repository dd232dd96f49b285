/** Reads the raw body of an upload as blocks, within limits on size, time, rate and the account's share of memory. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, Middleware, Next } from 'koa';
import { ServiceError, tooLarge } from '../errors.ts';
import { createFairBudget, type FairBudget } from '../fair-share.ts';
import type { ShutdownSignal } from '../lifecycle.ts';
import type { State } from './context.ts';

export type Upload = {
  /** The whole body; each block owns its ArrayBuffer, so that it can be transferred. */
  readonly blocks: readonly Uint8Array[];
  /** Call when the bytes are no longer needed. */
  release(): void;
};

type UploadOptions = BodyLimits & {
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

// Time limits of request bodies: a deadline, a minimum rate and the shutdown of the service.

/** At least `bytes` must arrive in each interval of `everyMs`. */
type BodyRate = { readonly bytes: number; readonly everyMs: number };

/** 1 KiB/s, or 8 kbit/s. GPRS carries 20 kbit/s or more. */
const minBodyRate: BodyRate = { bytes: 10 * 1024, everyMs: 10_000 };

export type BodyLimits = {
  /** On the clock of performance.now(). */
  readonly deadlineAt: number;
  readonly shutdown: ShutdownSignal;
  readonly rate?: BodyRate;
};

/** Calls `fail` when the body exceeds a limit. @returns a function that stops the guard */
export function guardBody(
  request: IncomingMessage,
  { shutdown, deadlineAt, rate = minBodyRate }: BodyLimits,
  fail: (error: ServiceError) => void,
): () => void {
  const { socket } = request;
  const deadline = setTimeout(() => fail(tooSlow()), Math.max(0, deadlineAt - performance.now()));
  // setImmediate runs after the poll phase: bytes that arrived while the event loop was blocked count.
  const rateCheck = setInterval(() => setImmediate(check), rate.everyMs);
  const ignoreShutdown = shutdown.listen(fail);
  let active = true;
  let received = socket.bytesRead;
  function check(): void {
    const arrived = socket.bytesRead - received;
    received += arrived;
    // Unread bytes mean that the service is the slow side.
    if (active && !request.complete && arrived < rate.bytes && request.readableLength === 0)
      fail(belowMinRate(rate));
  }
  return () => {
    active = false;
    clearTimeout(deadline);
    clearInterval(rateCheck);
    ignoreShutdown();
  };
}

/** Handlers of a body; `close` and `fail` may be called at once. */
type BodyReader = {
  receive(chunk: Buffer): void;
  finish(): void;
  /** The client aborted. */
  close(): void;
  fail(error: ServiceError): void;
};

/** Reads a guarded body. @param createReader gets a function that removes all listeners and timers */
export function attachReader(
  request: IncomingMessage,
  limits: BodyLimits,
  createReader: (detach: () => void) => BodyReader,
): void {
  const { receive, finish, close, fail } = createReader(detach);
  const stopGuard = guardBody(request, limits, fail);
  function detach(): void {
    stopGuard();
    request.off('data', receive).off('end', finish).off('close', close).off('error', close);
    request.on('error', () => {});
  }
  request.on('data', receive).on('end', finish).on('close', close).on('error', close);
  const reason = limits.shutdown.reason();
  if (reason !== null) fail(reason);
  else if (request.destroyed) close();
}

/** Resolves to true once the body is readable or ended, and to false when the client aborted. @throws ServiceError */
export function waitForBody(request: IncomingMessage, limits: BodyLimits): Promise<boolean> {
  if (request.complete || request.readableLength > 0) return Promise.resolve(!request.destroyed);
  return new Promise((resolve, reject) => {
    const stopGuard = guardBody(request, limits, (error) => {
      detach();
      reject(error);
    });
    function detach(): void {
      stopGuard();
      request.off('readable', onReadable).off('close', onClose);
    }
    function onReadable(): void {
      detach();
      resolve(true);
    }
    function onClose(): void {
      detach();
      resolve(false);
    }
    request.on('readable', onReadable).on('close', onClose);
    if (request.destroyed) onClose();
  });
}

function tooSlow(): ServiceError {
  return new ServiceError('timeout', 'The body did not arrive within the time limit');
}

function belowMinRate({ bytes, everyMs }: BodyRate): ServiceError {
  return new ServiceError(
    'timeout',
    `Expected at least ${bytes} bytes of the body every ${everyMs / 1000} s, got fewer`,
  );
}

// Bytes of request bodies in memory, shared by accounts. A single account reaches 3/4 of the limit.

export function createByteBudget(limit: number): FairBudget {
  return createFairBudget(limit, { shareOfFree: 3, firstAmount: 0 });
}

export function overByteShare(): ServiceError {
  return new ServiceError('overloaded', "The account's share of the memory for request bodies is used up");
}

// The bytes of a body in blocks that own their ArrayBuffer, so that they can be transferred to another thread.

/** Chunks of at least this length become blocks without a copy; shorter chunks share a block. */
const minWholeBytes = 16_384;
const sharedBlockBytes = 65_536;

/** Allocates by the bytes that arrived, not by Content-Length. */
export function createBlocks() {
  let full: Uint8Array[] = [];
  let open: Buffer | null = null;
  let filled = 0;

  function close(): void {
    if (open !== null) full.push(open.subarray(0, filled));
    open = null;
    filled = 0;
  }

  function append(chunk: Buffer): void {
    open ??= Buffer.allocUnsafeSlow(sharedBlockBytes);
    const copied = chunk.copy(open, filled);
    filled += copied;
    if (filled === sharedBlockBytes) close();
    if (copied < chunk.length) append(chunk.subarray(copied));
  }

  /** Removes and returns the full blocks. */
  function takeFull(): readonly Uint8Array[] {
    const taken = full;
    full = [];
    return taken;
  }

  return {
    add(chunk: Buffer) {
      const isWhole = chunk.length >= minWholeBytes && chunk.length === chunk.buffer.byteLength;
      if (!isWhole) return append(chunk);
      close();
      full.push(chunk);
    },
    takeFull,
    /** Removes and returns all blocks; the last one may be short. */
    takeAll(): readonly Uint8Array[] {
      close();
      return takeFull();
    },
  };
}
