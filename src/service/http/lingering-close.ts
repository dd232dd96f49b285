/**
 * Lingering close, for a response that is sent before the whole body was read. Closing a socket with unread bytes resets the
 * connection, which can destroy the response in transit: half-close the socket and read on for a moment.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { declaredLength } from './body.ts';

const lingerMs = 1000;
/** Some clients, as Node's fetch, read a response only after they have sent the body: allow for its length. */
const bytesPerMs = 20_000;
const maxLingerMs = 10_000;
/** Longer bodies are read as they arrive. */
const maxPacedBytes = 512 * 1024;
const readEveryMs = 20;
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
  if (declaredLength(request) <= maxPacedBytes) readAtIntervals(socket);
}

/**
 * Each read has a cost, and a network delivers a body in some hundred pieces: a paused socket collects them in the
 * kernel, up to its receive buffer.
 */
function readAtIntervals(socket: Socket): void {
  const pause = () => socket.pause();
  const timer = setInterval(() => {
    socket.resume();
    // setImmediate runs after the poll phase, which reads what has arrived.
    setImmediate(pause);
  }, readEveryMs);
  socket.once('close', () => clearInterval(timer));
  setImmediate(pause);
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

function lingerLimitMs(request: IncomingMessage): number {
  return Math.min(maxLingerMs, lingerMs + declaredLength(request) / bytesPerMs);
}

function hasBody(request: IncomingMessage): boolean {
  return isChunked(request) || declaredLength(request) > 0;
}

function isChunked({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined;
}
