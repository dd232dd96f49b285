/** Ends a body that arrives too slowly, or that is still arriving when the service stops. */
import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../runtime/errors.ts';
import type { ShutdownSignal } from '../lifecycle.ts';

/** Each span of `everyMs` must bring at least `bytes`. */
export type BodyRate = { readonly bytes: number; readonly everyMs: number };

/** 1 KiB/s, or 8 kbit/s. GPRS carries 20 kbit/s or more. */
export const minBodyRate: BodyRate = { bytes: 10 * 1024, everyMs: 10_000 };

export type BodyLimits = {
  /** On the clock of performance.now(). */
  readonly deadlineAt: number;
  readonly shutdown: ShutdownSignal;
  readonly rate?: BodyRate;
};

/** Calls `fail` when the body has to end. @returns how to stop watching */
export function guardBody(
  request: IncomingMessage,
  { shutdown, deadlineAt, rate = minBodyRate }: BodyLimits,
  fail: (failure: ServiceError) => void,
): () => void {
  const { socket } = request;
  const late = () => fail(tooSlow());
  const deadline = setTimeout(late, Math.max(0, deadlineAt - performance.now()));
  // The check runs after the sockets were read: bytes that arrived while this process was busy count.
  const pace = setInterval(() => setImmediate(check), rate.everyMs);
  const ignoreCut = shutdown.listen(fail);
  let watching = true;
  let received = socket.bytesRead;
  function check(): void {
    const arrived = socket.bytesRead - received;
    received += arrived;
    // With bytes that nobody has read yet, the slow side is the service.
    if (watching && !request.complete && arrived < rate.bytes && request.readableLength === 0)
      fail(belowMinRate(rate));
  }
  return () => {
    watching = false;
    clearTimeout(deadline);
    clearInterval(pace);
    ignoreCut();
  };
}

/** Resolves to false when the client left, and otherwise once there is something to read: bytes, or the end. @throws Failure */
export function bodyArrives(request: IncomingMessage, limits: BodyLimits): Promise<boolean> {
  if (request.complete || request.readableLength > 0) return Promise.resolve(!request.destroyed);
  return new Promise((resolve, reject) => {
    const stopGuard = guardBody(request, limits, (failure) => {
      detach();
      reject(failure);
    });
    function detach(): void {
      stopGuard();
      request.off('readable', arrive).off('close', leave);
    }
    function arrive(): void {
      detach();
      resolve(true);
    }
    function leave(): void {
      detach();
      resolve(false);
    }
    request.on('readable', arrive).on('close', leave);
    if (request.destroyed) leave();
  });
}

export function tooSlow(): ServiceError {
  return new ServiceError('timeout', 'The body took longer to arrive than it may');
}

function belowMinRate({ bytes, everyMs }: BodyRate): ServiceError {
  return new ServiceError(
    'timeout',
    `Expected at least ${bytes} bytes of the body every ${everyMs / 1000} s, got fewer`,
  );
}
