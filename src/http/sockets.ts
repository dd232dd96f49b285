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
  /** Pings every client, and cuts the connections of those that did not answer the last ping. Called every 20 s. */
  ping(): void;
};

export function createSockets(): Sockets {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxFrameBytes,
    handleProtocols: () => subprotocol,
  });
  /** Whether each client has answered the last ping. */
  const alive = new Map<WebSocket, boolean>();

  function ping(): void {
    for (const [webSocket, answered] of alive) {
      // A paused socket cannot receive a pong.
      if (!answered && !webSocket.isPaused) webSocket.terminate();
      else webSocket.ping();
      alive.set(webSocket, webSocket.isPaused);
    }
  }

  setInterval(ping, pingMs).unref();
  return {
    ping,
    accept: (request, response, open) => {
      const { socket } = request;
      const head = headOfUpgrade(request) ?? Buffer.alloc(0);
      response.detachSocket(socket);
      server.handleUpgrade(request, socket, head, (webSocket) => {
        alive.set(webSocket, true);
        webSocket.on('pong', () => alive.set(webSocket, true));
        webSocket.once('close', () => alive.delete(webSocket));
        receive(webSocket, open);
      });
    },
  };
}

function receive(webSocket: WebSocket, open: (connection: Connection) => Receiver): void {
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
  webSocket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) receiver.onAudio(data);
    else receiver.onText(data.toString());
  });
  // ws closes the connection with the code of the error.
  webSocket.on('error', () => {});
  webSocket.once('close', () => receiver.onClosed());
}
