/** The HTTP server around an app: time limits, broken requests, and an orderly end. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { httpStatus } from '../openapi/errors.ts';
import type { Address } from '../runtime/config.ts';
import { type ErrorCode, ServiceError } from '../runtime/errors.ts';
import { chunksTooSmall, expectedChunks, GatheredRequest } from './body/gathered-request.ts';
import { closeSlowly, isLingering } from './linger.ts';
import { errorBody, errorHeaders } from './middleware/errors.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;

export type HttpServer = {
  readonly server: Server;
  listen(address: Address): Promise<string>;
  /** Stops listening; resolves when every request that came in has been answered and its connection closed. */
  drain(): Promise<void>;
  destroy(): void;
};

const headersMs = 10_000;
const keepAliveMs = 65_000;
const connectionsCheckMs = 500;
/** A connection that was just accepted gets this long to say what it wants before the end. */
const silentConnectionMs = 500;
const sweepMs = 100;
const maxHeaderBytes = 16_384;

const reasons: Partial<Record<ErrorCode, string>> = {
  bad_request: 'Bad Request',
  timeout: 'Request Timeout',
  headers_too_large: 'Request Header Fields Too Large',
};

export type TimeLimits = {
  /** The longest that a whole request may take to arrive, and its answer to be read. */
  readonly seconds: number;
  /** The same of requests for jobs, where it is longer: the app ends all others that arrive too slowly. */
  readonly jobSeconds?: number;
};

export function createHttpServer(handler: Handler, { seconds, jobSeconds = 0 }: TimeLimits): HttpServer {
  const usualMs = Math.max(1000, 1000 * seconds);
  const longestMs = Math.max(usualMs, 1000 * jobSeconds);
  const server = createServer({
    IncomingMessage: GatheredRequest,
    headersTimeout: Math.min(headersMs, usualMs),
    requestTimeout: longestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: connectionsCheckMs,
    maxHeaderSize: maxHeaderBytes,
    requireHostHeader: false,
    noDelay: true,
  });
  const busy = new Map<Socket, ServerResponse>();
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    request.once(chunksTooSmall, () => rejectRequest({ code: chunksTooSmall }, request.socket, busy));
    const readMs = request.url?.startsWith('/v1/jobs') ? longestMs : usualMs;
    serve(handler, busy, readMs, request, response);
  };
  server.on('request', handle);
  server.on('checkContinue', handle);
  server.on('checkExpectation', handle);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => rejectRequest(error, socket, busy));
  server.on('connect', (_request, socket) => rejectRequest({ code: 'CONNECT' }, socket, busy));
  return {
    server,
    listen: (address) => listen(server, address),
    drain: () => drain(server, busy, sockets),
    destroy: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function serve(
  handler: Handler,
  busy: Map<Socket, ServerResponse>,
  readMs: number,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { socket } = request;
  if (isLingering(socket)) return;
  busy.set(socket, response);
  response.once('close', () => {
    if (busy.get(socket) === response) busy.delete(socket);
  });
  void handler(request, response).finally(() => {
    if (!response.writableEnded || response.writableFinished) return;
    const timer = setTimeout(() => socket.destroy(), readMs);
    response.once('close', () => clearTimeout(timer));
  });
}

/** Answers what never became a request, or stopped being one in its body. */
function rejectRequest(
  error: { code?: string | undefined },
  duplex: Duplex,
  busy: ReadonlyMap<Socket, ServerResponse>,
): void {
  const socket = duplex as Socket;
  const response = busy.get(socket);
  if (isLingering(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable || response?.headersSent) {
    socket.destroy();
    return;
  }
  if (response?.req.complete) {
    // The broken bytes came after a whole request, whose answer is on its way.
    response.setHeader('Connection', 'close');
    return;
  }
  const given = response?.getHeader('X-Request-Id');
  const failure = toServiceError(error.code);
  socket.write(rawResponse(failure, typeof given === 'string' ? given : randomUUID()));
  closeSlowly(socket);
}

function toServiceError(code: string | undefined): ServiceError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new ServiceError('timeout', 'The request took longer to arrive than it may');
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ServiceError(
      'headers_too_large',
      `Expected at most ${maxHeaderBytes} bytes of headers, got more`,
    );
  }
  if (code === chunksTooSmall) return new ServiceError('bad_request', expectedChunks);
  return new ServiceError('bad_request', 'Expected an HTTP/1.1 request, got something else');
}

function rawResponse(failure: ServiceError, requestId: string): string {
  const body = errorBody(failure, requestId);
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    Connection: 'close',
    ...errorHeaders(failure),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${httpStatus(failure.code)} ${reasons[failure.code] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}

/** @returns the address as a URL, with the port that was taken */
function listen(server: Server, { host, port }: Address): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const taken = (server.address() as AddressInfo).port;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${taken}`);
    });
  });
}

/** A connection with a request half sent is left to the time limits; those without any are closed. */
function drain(
  server: Server,
  busy: ReadonlyMap<Socket, ServerResponse>,
  sockets: ReadonlySet<Socket>,
): Promise<void> {
  for (const response of busy.values()) {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  }
  return new Promise((resolve) => {
    // Before the next `setImmediate` whatever has arrived is read: no connection with a request in it is taken for idle.
    const sweep = setInterval(() => setImmediate(() => server.closeIdleConnections()), sweepMs);
    setImmediate(() =>
      server.close(() => {
        clearInterval(sweep);
        resolve();
      }),
    );
    const closeSilent = () => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    };
    setTimeout(() => setImmediate(closeSilent), silentConnectionMs).unref();
  });
}
