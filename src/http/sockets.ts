/** WebSocket connections on ws. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { maxFrameBytes, pingMs, subprotocol } from '../stream/protocol.ts';
import type { Connection } from '../stream/session.ts';
import { headOfUpgrade } from './upgrade.ts';

/** Messages that the client has not read, beyond which the connection is cut. */
const maxUnreadBytes = 2 ** 20;

export type Receiver = {
  onText(text: string): void;
  onAudio(bytes: Uint8Array): void;
  onClosed(): void;
};

export type Sockets = {
  /** Switches protocols. Expects a valid handshake. */
  accept(
    request: IncomingMessage,
    response: ServerResponse,
    open: (connection: Connection) => Receiver,
  ): void;
};

export function createSockets(intervalMs = pingMs): Sockets {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxFrameBytes,
    handleProtocols: () => subprotocol,
  });
  return {
    accept: (request, response, open) => {
      const { socket } = request;
      const head = headOfUpgrade(request) ?? Buffer.alloc(0);
      response.detachSocket(socket);
      server.handleUpgrade(request, socket, head, (webSocket) => receive(webSocket, open, intervalMs));
    },
  };
}

function receive(webSocket: WebSocket, open: (connection: Connection) => Receiver, intervalMs: number): void {
  const receiver = open({
    send: (text) => {
      if (webSocket.readyState !== WebSocket.OPEN) return;
      webSocket.send(text);
      if (webSocket.bufferedAmount > maxUnreadBytes) webSocket.terminate();
    },
    close: (code, reason) => webSocket.close(code, reason),
    pause: () => webSocket.pause(),
    resume: () => webSocket.resume(),
  });
  const ping = pingRegularly(webSocket, intervalMs);
  webSocket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) receiver.onAudio(data);
    else receiver.onText(data.toString());
  });
  // ws closes the connection with the code of the error.
  webSocket.on('error', () => {});
  webSocket.once('close', () => {
    clearInterval(ping);
    receiver.onClosed();
  });
}

/** Cuts the connection of a client that vanished. A paused socket cannot receive a pong. */
function pingRegularly(webSocket: WebSocket, intervalMs: number): NodeJS.Timeout {
  let alive = true;
  webSocket.on('pong', () => {
    alive = true;
  });
  return setInterval(() => {
    if (!alive && !webSocket.isPaused) webSocket.terminate();
    else webSocket.ping();
    alive = webSocket.isPaused;
  }, intervalMs);
}
