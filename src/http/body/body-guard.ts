/** Time limits of request bodies: a deadline, a minimum rate and the shutdown of the service. */
import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../runtime/errors.ts';
import type { ShutdownSignal } from '../lifecycle.ts';

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
