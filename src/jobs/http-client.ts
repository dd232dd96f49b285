/** Requests to addresses that others gave us: one connection, no redirects, bounded in time and size. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { AddressError, checkedLookup, isAllowedHost } from './public-address.ts';

export type HttpRequest = {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly privateHosts: readonly string[];
  readonly seconds: number;
  /** Ends it before that. */
  readonly stop?: AbortSignal;
  /** Of the answer; one byte more ends the call. */
  readonly maxBytes: number;
  /** Called with the length of each chunk before it is kept; false ends the call. */
  readonly reserve?: (bytes: number) => boolean;
};

export type HttpResponse = { readonly status: number; readonly body: Buffer };

export class SizeError extends Error {}

/** `reserve` returned false. */
export class ReservationError extends Error {}

/** @throws AddressError, SizeError, ReservationError, or the error of the connection */
export async function sendRequest(wanted: HttpRequest): Promise<HttpResponse> {
  const url = new URL(wanted.url);
  if (!isAllowedHost(url, wanted.privateHosts)) {
    throw new AddressError(`Expected a public address, got ${url.hostname}`);
  }
  const ends = [AbortSignal.timeout(1000 * wanted.seconds), ...(wanted.stop ? [wanted.stop] : [])];
  const response = await send(url, wanted, AbortSignal.any(ends));
  const declared = Number(response.headers['content-length'] ?? 0);
  if (declared > wanted.maxBytes) {
    response.destroy();
    throw new SizeError(`Expected at most ${wanted.maxBytes} bytes, got ${declared}`);
  }
  return { status: response.statusCode ?? 0, body: await read(response, wanted) };
}

function send(url: URL, wanted: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const { method, headers = {}, body, privateHosts } = wanted;
    const lookup = checkedLookup(privateHosts);
    // An agent would keep connections, and hand out one that was made under another check.
    const sent = request(url, { method, headers, lookup, signal, agent: false }, resolve);
    sent.on('error', reject);
    sent.end(body);
  });
}

async function read(response: IncomingMessage, { maxBytes, reserve }: HttpRequest): Promise<Buffer> {
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
      throw new ReservationError('Expected memory for the answer, got none');
    }
    chunks.push(chunk);
  }
  // Of its own, since it goes to a thread: short ones by Buffer.concat share a pool, which Node 22 refuses to give away.
  const whole = Buffer.allocUnsafeSlow(length);
  chunks.reduce((at, chunk) => at + chunk.copy(whole, at), 0);
  return whole;
}
