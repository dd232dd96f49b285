/** The HTTP server around an app: time limits, malformed requests and graceful shutdown. */
import { randomUUID } from 'node:crypto';
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from '../config.ts';
import { type ErrorCode, httpStatus, ServiceError } from '../errors.ts';
import { streamPath } from '../live/protocol.ts';
import { closeSlowly, errorBody, errorHeaders, isLingering } from './errors.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;

export type HttpServer = ReturnType<typeof createHttpServer>;

const headersMs = 10_000;
const keepAliveMs = 65_000;
const connectionsCheckMs = 500;
/** The listener closes after so many turns of the event loop, of 1 ms or more, without a new connection. */
const quietTurns = 50;
const maxQuietMs = 1000;
/** Time for the first byte of a new connection during shutdown. */
const firstByteMs = 500;
const idleSweepMs = 100;
/** Between the first two probes of a connection whose client has sent its end. */
const firstProbeMs = 50;
const maxHeaderBytes = 16_384;

const reasonPhrases: Partial<Record<ErrorCode, string>> = {
  bad_request: 'Bad Request',
  timeout: 'Request Timeout',
  headers_too_large: 'Request Header Fields Too Large',
};

type TimeLimits = {
  /** For a request to arrive, and for its response to be read. */
  readonly seconds: number;
  /** The same for job requests. The app enforces `seconds` on all others. */
  readonly jobSeconds?: number;
};

export function createHttpServer(handler: Handler, { seconds, jobSeconds = 0 }: TimeLimits) {
  const requestMs = Math.max(1000, 1000 * seconds);
  const jobRequestMs = Math.max(requestMs, 1000 * jobSeconds);
  const server = createServer({
    IncomingMessage: GatheredRequest,
    headersTimeout: Math.min(headersMs, requestMs),
    requestTimeout: jobRequestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: connectionsCheckMs,
    maxHeaderSize: maxHeaderBytes,
    requireHostHeader: false,
    noDelay: true,
  });
  // Not in the types: a client that half-closes after its request gets the response.
  Object.assign(server, { httpAllowHalfOpen: true });
  // The limit of bytes suffices: beyond a count, Node.js 20 drops headers and Node.js 24 refuses the request.
  server.maxHeadersCount = 0;
  const responses = new Map<Socket, ServerResponse>();
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    // Node.js removes its listener when a connection leaves HTTP, and an error without one ends the process.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    socket.once('end', () => probe(responses.get(socket)));
  });
  let closing: Promise<unknown> | null = null;
  // Requests wait while the listener closes: a client that is refused may connect again at once.
  const respond: Handler = async (request, response) => {
    if (closing !== null) await closing;
    return handler(request, response);
  };
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    request.once(chunksTooSmall, () => rejectRequest({ code: chunksTooSmall }, request.socket, responses));
    const readMs = request.url?.startsWith('/v1/jobs') ? jobRequestMs : requestMs;
    handleRequest(respond, responses, readMs, request, response);
  };
  server.on('request', handle);
  server.on('checkContinue', handle);
  server.on('checkExpectation', handle);
  server.on('upgrade', (request, duplex, head) => {
    const socket = duplex as Socket;
    // A handshake sent before the response to the previous request: no client waits for 101 that way.
    if (responses.has(socket) || isLingering(socket)) socket.destroy();
    else void respond(request, responseToUpgrade(request, socket, head));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => rejectRequest(error, socket, responses));
  server.on('connect', (_request, socket) => rejectRequest({ code: 'CONNECT' }, socket, responses));
  return {
    server,
    listen: (address: Address): Promise<string> => listen(server, address),
    /** Stops listening, after the backlog is accepted. Resolves when all requests have been answered and their connections closed. */
    drain: (): Promise<void> => {
      closing = backlogAccepted(server);
      return drain(server, closing, responses, sockets);
    },
    destroy: () => {
      server.close();
      server.closeAllConnections();
      // Upgraded connections are not among them.
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * Sends 100 Continue, which clients skip, after the client's end. One that closed the connection resets it in reply, and the
 * next write fails, which ends its request; one that only half-closed waits for the response.
 */
function probe(response: ServerResponse | undefined, againMs = firstProbeMs): void {
  if (response === undefined || response.headersSent || response.destroyed || !response.req.complete) return;
  if (response.req.httpVersion !== '1.1') return;
  response.writeContinue();
  setTimeout(() => probe(response, 4 * againMs), againMs).unref();
}

function handleRequest(
  handler: Handler,
  responses: Map<Socket, ServerResponse>,
  readMs: number,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { socket } = request;
  if (isLingering(socket)) return;
  responses.set(socket, response);
  response.once('close', () => {
    if (responses.get(socket) === response) responses.delete(socket);
  });
  void handler(request, response).finally(() => {
    if (!response.writableEnded || response.writableFinished) return;
    const timer = setTimeout(() => socket.destroy(), readMs);
    // Node.js closes no response that waits for an earlier one when the connection ends.
    const stop = () => {
      clearTimeout(timer);
      socket.off('close', stop);
    };
    response.once('close', stop);
    socket.once('close', stop);
    if (socket.destroyed) stop();
  });
}

/** Answers bytes that are not a request, or stop being one within the body. */
function rejectRequest(
  error: { code?: string | undefined },
  duplex: Duplex,
  responses: ReadonlyMap<Socket, ServerResponse>,
): void {
  const socket = duplex as Socket;
  const response = responses.get(socket);
  if (isLingering(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable || response?.headersSent) {
    socket.destroy();
    return;
  }
  if (response?.req.complete) {
    // The malformed bytes follow a complete request, whose response is pending.
    response.setHeader('Connection', 'close');
    return;
  }
  const requestId = response?.getHeader('X-Request-Id');
  const id = typeof requestId === 'string' ? requestId : randomUUID();
  socket.write(rawResponse(toServiceError(error.code), id));
  closeSlowly(socket);
}

function toServiceError(code: string | undefined): ServiceError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ServiceError('timeout', 'The request did not arrive within the time limit');
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = `Expected at most ${maxHeaderBytes} bytes of headers, got more`;
    return new ServiceError('headers_too_large', message);
  }
  if (code === chunksTooSmall) return new ServiceError('bad_request', expectedChunks);
  return new ServiceError('bad_request', 'Expected an HTTP/1.1 request, got something else');
}

function rawResponse(error: ServiceError, requestId: string): string {
  const body = errorBody(error, requestId);
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    Connection: 'close',
    ...errorHeaders(error),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${httpStatus(error.code)} ${reasonPhrases[error.code] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}

/** @returns the URL, with the port that the server is bound to */
function listen(server: Server, { host, port }: Address): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const bound = (server.address() as AddressInfo).port;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${bound}`);
    });
  });
}

/** Resolves right after a poll that found no connection: closing a listener resets the connections of its backlog. */
async function backlogAccepted(server: Server): Promise<void> {
  const endAt = performance.now() + maxQuietMs;
  let quiet = 0;
  const onConnection = () => {
    quiet = -1;
  };
  server.on('connection', onConnection);
  // Each turn accepts one connection, however late it runs.
  for (; quiet < quietTurns && performance.now() < endAt; quiet++) await sleep(1);
  server.off('connection', onConnection);
}

/** Closes idle connections. The time limits apply to a connection that has sent part of a request. */
async function drain(
  server: Server,
  closing: Promise<unknown>,
  responses: ReadonlyMap<Socket, ServerResponse>,
  sockets: ReadonlySet<Socket>,
): Promise<void> {
  for (const response of responses.values()) {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  }
  await closing;
  return new Promise((resolve) => {
    // setImmediate runs after the poll phase: a connection whose request has arrived does not count as idle.
    const sweep = setInterval(() => setImmediate(() => server.closeIdleConnections()), idleSweepMs);
    server.close(() => {
      clearInterval(sweep);
      resolve();
    });
    const destroySilent = () => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    };
    setTimeout(() => setImmediate(destroySilent), firstByteMs).unref();
  });
}

// WebSocket upgrades as requests of the app: its middleware authenticates, limits, logs and refuses them like any request,
// before the protocol is switched.

/** The rest of what the socket has sent. */
const heads = new WeakMap<IncomingMessage, Buffer>();

/** Returns a response for the request. A refusal closes the connection. */
function responseToUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): ServerResponse {
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
const expectedChunks = `Expected chunks of at least ${minAverageBytes} bytes on average for \`body\`, got smaller ones`;

export class GatheredRequest extends IncomingMessage {
  /** Set by the constructor of IncomingMessage: an initializer would reset it. */
  declare private upgradeRequested: boolean;
  /** Received bytes of the body. */
  bodyBytes = 0;
  #gathered: Buffer[] = [];
  #deliveryScheduled = false;
  #refused = false;
  /** Remaining tiny chunks; each byte adds 1 / minAverageBytes. */
  #credit = maxTinyChunks;

  /**
   * Set and read by the HTTP parser: whether the connection leaves HTTP. Other paths ignore `Upgrade` (RFC 9110, section
   * 7.8), as they do without a listener of `upgrade`.
   */
  get upgrade(): boolean {
    return this.upgradeRequested && (this.method === 'CONNECT' || this.url?.split('?', 1)[0] === streamPath);
  }

  set upgrade(value: boolean) {
    this.upgradeRequested = value;
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
