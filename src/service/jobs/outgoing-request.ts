/** Requests to untrusted addresses: no redirects, no reused connections, bounded in time and size. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../errors.ts';
import { AddressError, checkedLookup, isAllowedHost } from './public-addresses.ts';

type HttpRequest = {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: AsyncIterable<string | Uint8Array>;
  readonly privateHosts: readonly string[];
  readonly seconds: number;
  readonly signal?: AbortSignal;
  /** Maximum length of the response body. Null: the body is not read. */
  readonly maxBytes: number | null;
  /** Called with the length of each chunk; false aborts the request. */
  readonly reserve?: (bytes: number) => boolean;
};

type HttpResponse = {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: Buffer;
};

export class SizeError extends Error {}

/** `reserve` returned false. */
export class ReservationError extends Error {}

/** No connection, or one that did not last. The message names no host: messages are stored and logged. */
class ConnectionError extends Error {}

const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no address of the host',
  EAI_AGAIN: 'no answer of the name server',
  ECONNREFUSED: 'a refused connection',
  ECONNRESET: 'a closed connection',
  EPIPE: 'a closed connection',
  ETIMEDOUT: 'no answer in time',
  TimeoutError: 'no answer in time',
  AbortError: 'a cancelled request',
  CERT_HAS_EXPIRED: 'an expired certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'a certificate of another host',
};

/** @param ended aborted when the request ran out of time or was cancelled: then Node.js reports a lost connection */
function withoutHost(error: Error & { readonly code?: unknown }, ended: AbortSignal): Error {
  if ([AddressError, SizeError, ReservationError, ServiceError].some((kind) => error instanceof kind))
    return error;
  const code = String(ended.aborted ? ended.reason.name : (error.code ?? error.name));
  return new ConnectionError(`Expected an answer, got ${reasons[code] ?? `a failed connection (${code})`}`);
}

/** @throws AddressError, SizeError, ReservationError, ConnectionError, and a ServiceError of the body */
export async function sendRequest(request: HttpRequest): Promise<HttpResponse> {
  const signals = [AbortSignal.timeout(1000 * request.seconds), ...(request.signal ? [request.signal] : [])];
  const ended = AbortSignal.any(signals);
  try {
    return await exchange(request, ended);
  } catch (error) {
    throw withoutHost(error as Error, ended);
  }
}

async function exchange(request: HttpRequest, ended: AbortSignal): Promise<HttpResponse> {
  const url = new URL(request.url);
  if (!isAllowedHost(url, request.privateHosts)) throw new AddressError();
  const response = await send(url, request, ended);
  const { statusCode: status = 0, headers } = response;
  const contentType = headers['content-type'];
  const { maxBytes, reserve } = request;
  if (maxBytes === null) {
    response.destroy();
    return { status, contentType, body: Buffer.alloc(0) };
  }
  const declared = Number(headers['content-length'] ?? 0);
  if (declared > maxBytes) {
    response.destroy();
    throw new SizeError(`Expected at most ${maxBytes} bytes, got ${declared}`);
  }
  return { status, contentType, body: await read(response, maxBytes, reserve) };
}

function send(url: URL, request: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const { method, headers = {}, body, privateHosts } = request;
    const lookup = checkedLookup(privateHosts);
    // An agent could reuse a connection that passed a different check.
    const sent = open(url, { method, headers, lookup, signal, agent: false }, resolve);
    sent.on('error', reject);
    if (body === undefined) sent.end();
    else pipeline(body, sent).catch(reject);
  });
}

async function read(
  response: IncomingMessage,
  maxBytes: number,
  reserve: HttpRequest['reserve'],
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) {
      response.destroy();
      throw new SizeError(`Expected at most ${maxBytes} bytes, got more`);
    }
    if (reserve?.(chunk.length) === false) {
      response.destroy();
      throw new ReservationError('Expected memory for the response, got none');
    }
    chunks.push(chunk);
  }
  // Not Buffer.concat: Node 22 cannot transfer a buffer of the shared pool to a thread.
  const body = Buffer.allocUnsafeSlow(length);
  chunks.reduce((at, chunk) => at + chunk.copy(body, at), 0);
  return body;
}

/** Budget keys of requests to other servers. */
export const shareKeys = (owner: string, url: string) => [`owner ${owner}`, `host ${new URL(url).host}`];
