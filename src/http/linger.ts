/**
 * An answer that comes before the whole body was read. Closing a socket with bytes unread resets the
 * connection, which can destroy the answer on its way: half-close it instead and read on for a moment.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const lingerMs = 1000;
/** Clients that put a long body together before they look for an answer get the time for it: Node's fetch is one. */
const bytesPerMs = 20_000;
const longestMs = 10_000;
const lingering = new WeakSet<Socket>();

/** True once a connection only waits to be closed: whatever else arrives on it is not a request. */
export function isLingering(socket: Socket): boolean {
  return lingering.has(socket);
}

/** To be called before the answer is written; does nothing when the body has been read or there is none. */
export function lingerAfter(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || !hasBody(request) || response.headersSent) return;
  response.setHeader('Connection', 'close');
  const { socket } = request;
  // Node calls this when the last answer of a connection has been written.
  socket.destroySoon = () => {
    request.resume();
    closeSlowly(socket, patienceMs(request), () => request.complete);
    request.once('end', () => socket.destroy());
  };
}

/** Half-closes, then discards what still arrives for up to a second, or longer when so much was announced. */
export function closeSlowly(
  socket: Socket,
  withinMs = lingerMs,
  complete: () => boolean = () => false,
): void {
  if (socket.destroyed || lingering.has(socket)) return;
  lingering.add(socket);
  const timer = setTimeout(() => socket.destroy(), withinMs);
  socket.once('close', () => clearTimeout(timer));
  socket.end(() => {
    if (complete()) socket.destroy();
  });
}

function patienceMs({ headers }: IncomingMessage): number {
  return Math.min(longestMs, lingerMs + Number(headers['content-length'] ?? 0) / bytesPerMs);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
