/** Requests as the service gets them from the HTTP parser of Node.js: one at a time on a connection, their bodies without tiny chunks. */
import { IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { streamPath } from '../live/protocol.ts';

// Pipelined requests. Node.js parses all requests of a read, up to some thousand, and handles them at the same time. Here the
// parser leaves the connection at the first one that comes before the response to the previous request has left: this request
// and the bytes after it are parsed anew, as those of a new connection, once it has.

/** The response that has not left yet, by connection. */
export const pendingResponses = new WeakMap<Socket, ServerResponse>();

const followed = new WeakSet<Socket>();

/** Whether the connection has sent a request after the one that is handled. */
export const isFollowed = (socket: Socket): boolean => followed.has(socket);

type Postponed = {
  readonly server: Server;
  readonly request: IncomingMessage;
  /** The bytes after the headers of the request. */
  readonly rest: Buffer;
  /** Called after the response before: `parse` may be called later. */
  readonly onFree: (parse: () => void) => void;
};

export function postpone({ server, request, rest, onFree }: Postponed): void {
  const { socket } = request;
  const pending = pendingResponses.get(socket);
  // Before the end of the stream, after which nothing can be put back.
  if (rest.length > 0) socket.unshift(rest);
  socket.unshift(encodeHead(request));
  followed.add(socket);
  // The parser passed these on.
  const onDrain = () => pending?.emit('drain');
  socket.on('drain', onDrain);
  pending?.once('close', () => {
    socket.off('drain', onDrain);
    followed.delete(socket);
    // A closure would keep the response before.
    onFree(reopen.bind(null, server, socket));
  });
}

function reopen(server: Server, socket: Socket): void {
  if (!socket.writable) return;
  // That of an idle connection.
  socket.setTimeout(0);
  server.emit('connection', socket);
}

/** The headers as they arrived: the parser has checked them, and decodes them as Latin-1. */
function encodeHead({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

// A request that coalesces small chunks of a chunked body (RFC 9112, section 7.1). The HTTP parser of Node.js has a cost per chunk,
// and one socket read holds up to 11,000 chunks: small chunks are concatenated and delivered after one read at a time, so that the
// event loop serves other connections in between. A body of chunks of a few bytes is refused.

/** Event, emitted at most once, when the chunks are too small; the rest of the body is dropped. */
export const chunksTooSmall = 'chunksTooSmall';

/** Chunks of at least this length are delivered unchanged. */
const minDirectBytes = 1024;
const minAverageBytes = 8;
/** Chunks that may be shorter than the average. */
const maxTinyChunks = 4096;

/** Error message for the client. */
export const expectedChunks = `Expected chunks of at least ${minAverageBytes} bytes on average for \`body\`, got smaller ones`;

export class GatheredRequest extends IncomingMessage {
  // Set by the constructor of IncomingMessage: initializers would reset them.
  declare private upgradeRequested: boolean;
  /** Whether the response before has not left. */
  declare private waits: boolean;
  /** Received bytes of the body. */
  bodyBytes = 0;
  #gathered: Buffer[] = [];
  #deliveryScheduled = false;
  #refused = false;
  /** Remaining tiny chunks; each byte adds 1 / minAverageBytes. */
  #credit = maxTinyChunks;

  /**
   * Set and read by the HTTP parser, which stops after the headers if it is true, and emits `upgrade` with the bytes after them.
   * Other paths than that of live sessions ignore the header `Upgrade` (RFC 9110, section 7.8), as they do without a listener.
   */
  get upgrade(): boolean {
    const leavesHttp = this.method === 'CONNECT' || this.url?.split('?', 1)[0] === streamPath;
    return this.waits || (this.upgradeRequested && leavesHttp);
  }

  set upgrade(value: boolean) {
    this.upgradeRequested = value;
    this.waits ||= pendingResponses.has(this.socket);
  }

  /** Called by the HTTP parser; false pauses the socket until the stream reads again. */
  override push(chunk: Buffer | null): boolean {
    this.bodyBytes += chunk?.length ?? 0;
    if (chunk === null || chunk.length >= minDirectBytes || !this.#isChunked()) {
      this.#deliver();
      return super.push(chunk);
    }
    if (this.#refused) return false;
    this.#credit = Math.min(maxTinyChunks, this.#credit + chunk.length / minAverageBytes) - 1;
    if (this.#credit < 0) this.#refuse();
    else this.#gather(chunk);
    return false;
  }

  #isChunked(): boolean {
    return this.headers['transfer-encoding'] !== undefined;
  }

  #gather(chunk: Buffer): void {
    this.#gathered.push(chunk);
    if (this.#deliveryScheduled) return;
    this.#deliveryScheduled = true;
    setImmediate(() => {
      this.#deliveryScheduled = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    if (this.#gathered.length === 0) return;
    const bytes = Buffer.concat(this.#gathered);
    this.#gathered = [];
    if (!this.destroyed) super.push(bytes);
  }

  #refuse(): void {
    this.#refused = true;
    this.#gathered = [];
    this.emit(chunksTooSmall);
  }
}
