/** Collects the raw body of an upload, bounded in size, in time and in the sum of all bodies held. */
import type { IncomingMessage } from 'node:http';
import { Failure, invalidPart } from '../errors.ts';

/** Bytes of bodies in memory, all requests together. */
export type Held = {
  readonly limit: number;
  bytes(): number;
  /** False when they do not fit. */
  take(bytes: number): boolean;
  give(bytes: number): void;
};

export function createHeld(limit: number): Held {
  let bytes = 0;
  return {
    limit,
    bytes: () => bytes,
    take: (more) => {
      if (bytes + more > limit) return false;
      bytes += more;
      return true;
    },
    give: (less) => {
      bytes -= less;
    },
  };
}

export type Upload = {
  /** Owns its whole buffer, so that it can be transferred. */
  readonly bytes: Uint8Array;
  /** To be called once the bytes are not needed any more. */
  release(): void;
};

export type UploadOptions = {
  readonly maxBytes: number;
  readonly held: Held;
  /** On the clock of performance.now(). */
  readonly deadlineAt: number;
  /** Its reason is a Failure that ends the upload. */
  readonly cut: AbortSignal;
};

/** Memory for a body of known length comes at once up to here; its pages are only backed once written. */
const trustedBytes = 2 ** 20;
const firstBytes = 65_536;
const growth = 4;

/** @throws Failure when Content-Length alone tells that the body is too large */
export function checkLength(request: IncomingMessage, maxBytes: number): void {
  if (declaredLength(request) > maxBytes) throw tooLarge(maxBytes);
}

/** Null when the client left before the end. Whatever the way out, listeners, timer and bytes are let go. */
export function collect(request: IncomingMessage, options: UploadOptions): Promise<Upload | null> {
  const { cut, deadlineAt } = options;
  const body = createBody(options, declaredLength(request));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(late, Math.max(0, deadlineAt - performance.now()));
    function detach(): void {
      clearTimeout(timer);
      cut.removeEventListener('abort', onCut);
      request.off('data', receive).off('end', finish).off('close', leave).off('error', leave);
      request.on('error', ignore);
    }
    function finish(): void {
      detach();
      resolve({ bytes: body.bytes(), release: body.release });
    }
    function leave(): void {
      detach();
      body.release();
      resolve(null);
    }
    function fail(failure: Failure): void {
      detach();
      body.release();
      reject(failure);
    }
    function receive(chunk: Buffer): void {
      const failure = body.add(chunk);
      if (failure !== null) fail(failure);
    }
    function late(): void {
      fail(new Failure('timeout', 'The body took longer to arrive than it may'));
    }
    function onCut(): void {
      fail(cut.reason as Failure);
    }
    request.on('data', receive).on('end', finish).on('close', leave).on('error', leave);
    if (cut.aborted) onCut();
    else cut.addEventListener('abort', onCut);
  });
}

type Body = {
  /** Null, or why the chunk cannot be taken. */
  add(chunk: Buffer): Failure | null;
  bytes(): Uint8Array;
  release(): void;
};

/** Beyond `trustedBytes` memory follows the bytes that came, not the length that a header claims. */
function createBody({ held, maxBytes }: UploadOptions, declared: number): Body {
  const most = Math.min(maxBytes, declared || maxBytes);
  let buffer: Buffer = Buffer.allocUnsafeSlow(Math.min(most, declared > 0 ? trustedBytes : firstBytes));
  let length = 0;
  let released = false;
  return {
    add: (chunk) => {
      const total = length + chunk.length;
      if (total > maxBytes) return tooLarge(maxBytes);
      if (!held.take(chunk.length)) return tooMuchHeld();
      if (total > buffer.length)
        buffer = enlarged(buffer, length, Math.max(total, Math.min(most, growth * length)));
      chunk.copy(buffer, length);
      length = total;
      return null;
    },
    bytes: () => buffer.subarray(0, length),
    release: () => {
      if (!released) held.give(length);
      released = true;
    },
  };
}

function enlarged(buffer: Buffer, length: number, size: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(size);
  buffer.copy(larger, 0, 0, length);
  return larger;
}

/** Of a body that would pass the limit on all bodies together. */
export function tooMuchHeld(): Failure {
  return new Failure('overloaded', 'Too many bytes of other requests are being held');
}

function declaredLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

function tooLarge(maxBytes: number): Failure {
  const message = `Expected at most ${maxBytes} bytes for \`body\`, got more`;
  return invalidPart('audio', 'value_error.audio.too_large', message);
}

/** A connection that breaks after its upload was given up is nobody's concern. */
function ignore(): void {}
