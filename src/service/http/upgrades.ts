/**
 * WebSocket upgrades as requests of the app: its middleware authenticates, limits, logs and refuses them like any request, before
 * the protocol is switched.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The rest of what the socket has sent. */
const heads = new WeakMap<IncomingMessage, Buffer>();

/** Returns a response for the request. A refusal closes the connection. */
export function responseToUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): ServerResponse {
  const response = new ServerResponse(request);
  response.assignSocket(socket);
  response.shouldKeepAlive = false;
  response.once('finish', () => socket.destroySoon());
  heads.set(request, head);
  return response;
}

/** Returns null for a request that is no upgrade, and the bytes after its headers otherwise. */
export function headOfUpgrade(request: IncomingMessage): Buffer | null {
  return heads.get(request) ?? null;
}
