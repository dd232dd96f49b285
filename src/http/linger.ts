/**
 * Lingering close, for a response that is sent before the whole body was read. Closing a socket with unread bytes
 * resets the connection, which can destroy the response in transit: half-close the socket and read on for a moment.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const lingerMs = 1000;
/** Some clients, as Node's fetch, read a response only after they have sent the body: allow for its length. */
const bytesPerMs = 20_000;
const maxLingerMs = 10_000;
const lingering = new WeakSet<Socket>();

/** True for a connection that waits to be closed; bytes that arrive on it are no request. */
export function isLingering(socket: Socket): boolean {
  return lingering.has(socket);
}

/** Call before the response is written. Does nothing when the body has been read or is empty. */
export function lingerAfter(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || !hasBody(request) || response.headersSent) return;
  response.setHeader('Connection', 'close');
  // Node.js calls this when the last response of a connection has been written.
  request.socket.destroySoon = () => {
    if (isChunked(request)) closeSlowly(request.socket);
    else closeAfterBody(request);
  };
}

/** Half-closes, then discards what still arrives for up to a second. */
export function closeSlowly(socket: Socket): void {
  if (!startLingering(socket, lingerMs)) return;
  socket.end();
  // The caller may be the HTTP parser, which must return first.
  setImmediate(discard, socket);
}

/** Half-closes, then reads the rest of a body of known length within the time that it may take. */
function closeAfterBody(request: IncomingMessage): void {
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

/** Replaces the HTTP parser as the reader of the socket, since it has a cost per chunk of a body. */
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
