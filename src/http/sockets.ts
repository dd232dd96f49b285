/** WebSocket connections on ws. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { createTokenBucket } from '../runtime/token-bucket.ts';
import { maxFrameBytes, pingMs, subprotocol } from '../stream/protocol.ts';
import type { Connection } from '../stream/session-options.ts';
import { headOfUpgrade } from './upgrade.ts';

/** Messages that the client has not read, beyond which the connection is cut. */
const maxUnreadBytes = 2 ** 20;
/** Frames that are read at once, and per second: the main thread spends some microseconds on each, however small. */
const maxFrames = 4000;
const framesPerSecond = 2000;
/**
 * ws does not emit the fragments of a message one by one. `closeTimeout` is the time for the client to answer a close
 * frame, ms. The types lack both options.
 */
const limits = { maxPayload: maxFrameBytes, maxFragments: 8, closeTimeout: 2000 };

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
    ...limits,
    autoPong: false,
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
  const reading = createReading(webSocket);
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
      reading.resume();
    },
    pause: reading.pause,
    resume: reading.resume,
  });
  webSocket.on('message', (data: Buffer, isBinary) => {
    reading.countFrame();
    if (isBinary) receiver.onAudio(data);
    else receiver.onText(data.toString());
  });
  webSocket.on('ping', (data) => {
    reading.countFrame();
    cutUnread();
    webSocket.pong(data);
  });
  webSocket.on('pong', reading.countFrame);
  // ws closes the connection with the code of the error.
  webSocket.on('error', () => {});
  webSocket.once('close', () => receiver.onClosed());
}

/** Reads from the socket unless the session has paused it or its frames come too fast. */
function createReading(webSocket: WebSocket) {
  const frames = createTokenBucket(maxFrames, framesPerSecond);
  let paused = false;
  let late: NodeJS.Timeout | null = null;
  const update = () => {
    if (paused || late !== null) webSocket.pause();
    else webSocket.resume();
  };
  return {
    pause: () => {
      paused = true;
      update();
    },
    resume: () => {
      paused = false;
      update();
    },
    countFrame: () => {
      const waitMs = frames.take();
      if (waitMs === 0) return;
      // Frames that ws has read still arrive, and extend the wait.
      if (late !== null) clearTimeout(late);
      late = setTimeout(() => {
        late = null;
        update();
      }, waitMs).unref();
      update();
    },
  };
}
