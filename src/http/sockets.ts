/** WebSocket connections on ws. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { maxFrameBytes, pingMs, subprotocol } from '../stream/protocol.ts';
import type { Connection } from '../stream/session-options.ts';
import { createFrameLimiter, type LimitedSocket } from './frame-limiter.ts';
import { headOfUpgrade } from './upgrade.ts';

/** Messages that the client has not read, beyond which the connection is cut. */
const maxUnreadBytes = 2 ** 20;
/** Frames per second of one account, for each session that the service can have: twice as many as with frames of 20 ms. */
const framesPerSession = 100;
/** Between heartbeats of a connection that is not read, whose end is noticed when the second one is sent. */
const heartbeatMs = 1000;
/**
 * ws does not emit the fragments of a message one by one. `closeTimeout` is the time for the client to answer a close
 * frame, ms. The types lack both options.
 */
const limits = { maxPayload: maxFrameBytes, maxFragments: 8, closeTimeout: 2000 };

export type Receiver = {
  onText(text: string): void;
  onAudio(bytes: Uint8Array): void;
  /** The client sends more frames than the limits. */
  onFlood(): void;
  onClosed(): void;
};

export type Sockets = {
  /** Switches protocols. Expects a valid handshake. */
  accept(
    request: IncomingMessage,
    response: ServerResponse,
    account: string,
    open: (connection: Connection) => Receiver,
  ): void;
  /** Pings every client, and cuts the connections of those that did not answer the last ping. Called every 20 s. */
  ping(): void;
};

/** Whether the client has answered the last ping. */
type Client = LimitedSocket & { answered: boolean };

/** @param sessions that the service can have */
export function createSockets(sessions: number): Sockets {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    ...limits,
    autoPong: false,
    handleProtocols: () => subprotocol,
  });
  const limiter = createFrameLimiter(framesPerSession * sessions);
  const clients = new Map<WebSocket, Client>();
  /** A connection that is not read cannot receive a pong. */
  const isRead = (webSocket: WebSocket, client: Client) => !webSocket.isPaused && !client.isWaiting();

  function ping(): void {
    for (const [webSocket, client] of clients) {
      if (!isRead(webSocket, client)) continue;
      if (!client.answered) webSocket.terminate();
      else webSocket.ping();
      client.answered = false;
    }
  }

  /** A pong needs no answer. Writing to a connection that the client has ended fails, after the first time. */
  function beat(): void {
    for (const [webSocket, client] of clients) {
      if (isRead(webSocket, client)) continue;
      client.answered = true;
      webSocket.pong();
    }
  }

  setInterval(ping, pingMs).unref();
  setInterval(beat, heartbeatMs).unref();
  return {
    ping,
    accept: (request, response, account, open) => {
      const { socket } = request;
      response.detachSocket(socket);
      // What has arrived since the handshake passes the limiter as well.
      const early = [headOfUpgrade(request), socket.read() as Buffer | null].filter(
        (bytes) => bytes !== null,
      );
      let receiver: Receiver | null = null;
      const limited = limiter.limit(socket, account, () => receiver?.onFlood());
      server.handleUpgrade(request, socket, Buffer.alloc(0), (webSocket) => {
        const client = { ...limited, answered: true };
        clients.set(webSocket, client);
        webSocket.on('pong', () => {
          client.answered = true;
        });
        webSocket.once('close', () => clients.delete(webSocket));
        receiver = receive(webSocket, open);
        if (early.length > 0) socket.push(Buffer.concat(early));
      });
    },
  };
}

function receive(webSocket: WebSocket, open: (connection: Connection) => Receiver): Receiver {
  /** The message itself does not count: the report may be larger. */
  const cutUnread = () => {
    if (webSocket.bufferedAmount > maxUnreadBytes) webSocket.terminate();
  };
  const receiver = open({
    send: (text) => {
      cutUnread();
      if (webSocket.readyState === WebSocket.OPEN) webSocket.send(text);
    },
    close: (code, reason) => {
      webSocket.close(code, reason);
      // The answer is a frame.
      webSocket.resume();
    },
    pause: () => webSocket.pause(),
    resume: () => webSocket.resume(),
  });
  webSocket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) receiver.onAudio(data);
    else receiver.onText(data.toString());
  });
  webSocket.on('ping', (data) => {
    cutUnread();
    webSocket.pong(data);
  });
  // ws closes the connection with the code of the error.
  webSocket.on('error', () => {});
  webSocket.once('close', () => receiver.onClosed());
  return receiver;
}
