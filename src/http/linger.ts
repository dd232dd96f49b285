/**
 * An answer that comes before the whole body was read. Closing a socket with bytes unread resets the
 * connection, which can destroy the answer on its way: half-close it instead and read on for a moment.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const lingerMs = 1000;
/** Clients that put a long body together before they look for an answer get the time for it: Node's fetch is one. */
const bytesPerMs = 20_000;
const maxLingerMs = 10_000;
const lingering = new WeakSet<Socket>();

/** True once a connection only waits to be closed: whatever else arrives on it is not a request. */
export function isLingering(socket: Socket): boolean {
  return lingering.has(socket);
}

/** To be called before the answer is written; does nothing when the body has been read or there is none. */
export function lingerAfter(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || !hasBody(request) || response.headersSent) return;
  response.setHeader('Connection', 'close');
  // Node calls this when the last answer of a connection has been written.
  request.socket.destroySoon = () => {
    if (isChunked(request)) closeSlowly(request.socket);
    else closeAfter(request);
  };
}

/** Half-closes, then discards what still arrives for up to a second. */
export function closeSlowly(socket: Socket): void {
  if (!startLingering(socket, lingerMs)) return;
  socket.end();
  // Not from within the HTTP parser, which may have called.
  setImmediate(discard, socket);
}

/** The same for the rest of a body of known length, for as long as so many bytes may take; they end the wait. */
function closeAfter(request: IncomingMessage): void {
  const { socket } = request;
  if (!startLingering(socket, lingerLimitMs(request))) return;
  request.once('end', () => socket.destroy());
  request.resume();
  socket.end(() => {
    if (request.complete) socket.destroy();
  });
}

function startLingering(socket: Socket, withinMs: number): boolean {
  if (socket.destroyed || lingering.has(socket)) return false;
  lingering.add(socket);
  const timer = setTimeout(() => socket.destroy(), withinMs);
  socket.once('close', () => clearTimeout(timer));
  return true;
}

/** A listener of our own takes the socket back from the HTTP parser, which has a cost per chunk of a body. */
function discard(socket: Socket): void {
  if (socket.destroyed) return;
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  socket.resume();
}

function lingerLimitMs({ headers }: IncomingMessage): number {
  return Math.min(maxLingerMs, lingerMs + Number(headers['content-length'] ?? 0) / bytesPerMs);
}

function hasBody(request: IncomingMessage): boolean {
  return isChunked(request) || Number(request.headers['content-length'] ?? 0) > 0;
}

function isChunked({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined;
}
