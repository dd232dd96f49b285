/** The HTTP server around an app: time limits, malformed requests and graceful shutdown. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from '../config.ts';
import { type ErrorCode, httpStatus, ServiceError } from '../errors.ts';
import { errorBody, errorHeaders } from './errors.ts';
import { closeSlowly, isLingering } from './lingering-close.ts';
import { chunksTooSmall, expectedChunks, GatheredRequest, pendingResponses, postpone } from './request.ts';
import { createRequestQueue } from './request-queue.ts';
import { watchResponses } from './unread.ts';
import { responseToUpgrade } from './upgrades.ts';

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

type Limits = {
  /** For a request to arrive. */
  readonly seconds: number;
  /** The same for job requests. The app enforces `seconds` on all others. */
  readonly jobSeconds?: number;
  /** For a response of which the client reads nothing. */
  readonly unreadSeconds?: number;
  /** Of responses, and of requests after them, that wait for clients to read. */
  readonly maxUnreadBytes?: number;
  /** Proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies?: number;
};

export function createHttpServer(
  handler: Handler,
  { seconds, jobSeconds = 0, unreadSeconds = 30, maxUnreadBytes = 64 * 2 ** 20, trustedProxies = 0 }: Limits,
) {
  const requestMs = Math.max(1000, 1000 * seconds);
  const server = createServer({
    IncomingMessage: GatheredRequest,
    headersTimeout: Math.min(headersMs, requestMs),
    requestTimeout: Math.max(requestMs, 1000 * jobSeconds),
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
  const sockets = new Set<Socket>();
  const unread = watchResponses(sockets, 1000 * unreadSeconds, maxUnreadBytes);
  server.once('close', unread.stop);
  server.on('connection', (socket) => {
    // A connection with pipelined requests is emitted again for each.
    if (sockets.has(socket)) return;
    sockets.add(socket);
    // Node.js removes its listener when a connection leaves HTTP, and an error without one ends the process.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    socket.once('end', () => probe(pendingResponses.get(socket)));
  });
  let closing: Promise<unknown> | null = null;
  const queue = createRequestQueue(trustedProxies);
  // Requests wait while the listener closes: a client that is refused may connect again at once.
  const respond = (request: IncomingMessage, response: ServerResponse) =>
    queue.add(request, async () => {
      if (closing !== null) await closing;
      await handler(request, response);
    });
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    request.once(chunksTooSmall, () => rejectRequest({ code: chunksTooSmall }, request.socket));
    handleRequest(respond, request, response);
  };
  server.on('request', handle);
  server.on('checkContinue', handle);
  server.on('checkExpectation', handle);
  server.on('upgrade', (request, duplex, head) => {
    const socket = duplex as Socket;
    if (isLingering(socket)) socket.destroy();
    else if (pendingResponses.has(socket)) {
      const onFree = queue.postpone(request);
      postpone({ server, request, rest: head, onFree });
    } else respond(request, responseToUpgrade(request, socket, head));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => rejectRequest(error, socket));
  server.on('connect', (_request, socket) => rejectRequest({ code: 'CONNECT' }, socket));
  return {
    server,
    unread,
    listen: (address: Address): Promise<string> => listen(server, address),
    /** Stops listening, after the backlog is accepted. Resolves when all requests have been answered and their connections closed. */
    drain: (): Promise<void> => {
      closing = backlogAccepted(server);
      return drain(server, closing, sockets);
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
  respond: (request: IncomingMessage, response: ServerResponse) => void,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { socket } = request;
  if (isLingering(socket)) return;
  pendingResponses.set(socket, response);
  response.once('close', () => pendingResponses.delete(socket));
  respond(request, response);
}

/** Answers bytes that are not a request, or stop being one within the body. */
function rejectRequest(error: { code?: string | undefined }, duplex: Duplex): void {
  const socket = duplex as Socket;
  const response = pendingResponses.get(socket);
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
  socket.write(rawResponse(parserError(error.code), id));
  closeSlowly(socket);
}

function parserError(code: string | undefined): ServiceError {
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
async function drain(server: Server, closing: Promise<unknown>, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) {
    const response = pendingResponses.get(socket);
    if (response?.headersSent === false) response.setHeader('Connection', 'close');
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
