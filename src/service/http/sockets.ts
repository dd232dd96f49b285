/** WebSocket connections on ws. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { createCache } from '../cache.ts';
import { createTokenBucket, type TokenBucket } from '../fair-share.ts';
import { maxControlFrames, maxFrameBytes, maxSmallFrames, pingMs, subprotocol } from '../live/protocol.ts';
import type { Connection } from '../live/session.ts';
import { headOfUpgrade } from './upgrades.ts';

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

type Receiver = {
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
type Client = ReturnType<ReturnType<typeof createFrameLimiter>['limit']> & { answered: boolean };

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

// Limits of WebSocket frames, applied to the bytes of a read: ws handles all frames of a read in one turn of the event loop,
// up to 10,922 of them, and the main thread spends some microseconds on each, however small.

/** Frames of all connections that ws handles before other work of the event loop. */
const framesPerTurn = 1000;
/** Makes a stream read on. */
const noBytes = Buffer.alloc(0);
const cachedAccounts = { size: 10_000, lifetimeMs: 60_000 };

/** @param framesPerSecond of one account. Its connections are read later when they send more. */
function createFrameLimiter(framesPerSecond: number) {
  const accounts = createCache<TokenBucket>({ ...cachedAccounts, now: () => performance.now() });
  const turn = createTurn();

  function bucketOf(account: string): TokenBucket {
    const bucket = accounts.get(account) ?? createTokenBucket(framesPerSecond, framesPerSecond);
    accounts.set(account, bucket);
    return bucket;
  }

  return {
    /**
     * Call before ws reads from the socket.
     * @param onExceeded called once, when a frame exceeds a limit of the connection. This read and later ones are discarded.
     */
    limit(socket: Socket, account: string, onExceeded: () => void) {
      const push = socket.push.bind(socket);
      const count = createFrameCounter();
      let reads: Buffer[] = [];
      let frames = 0;
      let waiting = false;
      let exceeded = false;
      let ended = false;

      function release(): boolean {
        const released = socket.destroyed ? [] : reads;
        turn.add(frames);
        [reads, frames, waiting] = [[], 0, false];
        return released.map((bytes) => push(bytes)).every(Boolean);
      }

      /** Returns whether the socket is read on, as `push` does. */
      function accept(bytes: Buffer, added: number): boolean {
        reads.push(bytes);
        frames += added;
        const waitMs = bucketOf(account).take(added);
        if (waiting) return false;
        if (waitMs === 0 && turn.hasRoom(frames)) return release();
        waiting = true;
        if (waitMs === 0) turn.wait(release);
        else setTimeout(() => turn.wait(release), waitMs).unref();
        return false;
      }

      /** One read per turn of the event loop: a client that still sends sees why its connection closes. */
      function discard(): false {
        turn.wait(() => {
          if (!ended && !socket.destroyed) push(noBytes);
        });
        return false;
      }

      // Node.js calls this with the bytes of each read, and null at the end of the stream.
      socket.push = (bytes: Buffer | null) => {
        if (bytes === null) {
          ended = true;
          reads = [];
          return push(null);
        }
        const added = exceeded ? null : count(bytes);
        if (added !== null) return accept(bytes, added);
        if (!exceeded) {
          exceeded = true;
          reads = [];
          onExceeded();
        }
        return discard();
      };
      /** Whether bytes wait for the account or the process; the socket is not read meanwhile. */
      return { isWaiting: () => waiting };
    },
  };
}

/** Counts the frames of a turn of the event loop, and runs what waits for a later one in order. */
function createTurn() {
  const waiting: (() => void)[] = [];
  let frames = 0;
  let scheduled = false;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(next);
  }

  function next(): void {
    scheduled = false;
    frames = 0;
    while (frames < framesPerTurn) {
      const release = waiting.shift();
      if (release === undefined) break;
      release();
    }
    if (waiting.length > 0) schedule();
  }

  return {
    hasRoom: (more: number) => waiting.length === 0 && (frames === 0 || frames + more <= framesPerTurn),
    add: (more: number) => {
      frames += more;
      if (frames > 0) schedule();
    },
    wait: (release: () => void) => {
      waiting.push(release);
      schedule();
    },
  };
}

/**
 * RFC 6455, section 5.2.
 * @returns a function of the bytes of each read: the frames whose header ends there, at least 1; null for more control frames
 *   or small frames than the limits. A short read within a frame counts as a small frame.
 */
export function createFrameCounter(): (bytes: Uint8Array) => number | null {
  const control = createTokenBucket(maxControlFrames.size, maxControlFrames.perSecond);
  const small = createTokenBucket(maxSmallFrames.size, maxSmallFrames.perSecond);
  const header = Buffer.alloc(14);
  let headerBytes = 0;
  let payloadBytes = 0;

  const isSmall = (length: number) => length < maxSmallFrames.bytes;
  const isControl = () => (header.readUInt8(0) & 0x08) !== 0;

  return (bytes) => {
    let frames = 0;
    for (let at = 0; at < bytes.length; ) {
      const skipped = Math.min(payloadBytes, bytes.length - at);
      payloadBytes -= skipped;
      at += skipped;
      if (at === bytes.length) break;
      header[headerBytes++] = bytes[at++] as number;
      if (headerBytes < 2 || headerBytes < headerLength(header)) continue;
      headerBytes = 0;
      payloadBytes = payloadLength(header);
      frames++;
      if (isSmall(payloadBytes) && small.take() > 0) return null;
      if (isControl() && control.take() > 0) return null;
    }
    return frames === 0 && isSmall(bytes.length) && small.take() > 0 ? null : Math.max(1, frames);
  };
}

/** Bytes of a header, which its second byte decides. */
function headerLength(header: Buffer): number {
  const second = header.readUInt8(1);
  const mask = second & 0x80 ? 4 : 0;
  const length = second & 0x7f;
  return 2 + mask + (length === 127 ? 8 : length === 126 ? 2 : 0);
}

function payloadLength(header: Buffer): number {
  const length = header.readUInt8(1) & 0x7f;
  if (length === 127) return Number(header.readBigUInt64BE(2));
  return length === 126 ? header.readUInt16BE(2) : length;
}
