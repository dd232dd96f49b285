/** One request of a load test; connection errors are outcomes. */
import { type Agent, type IncomingMessage, request } from 'node:http';
import { contentType } from '../../../benchmarks/upload-body.ts';

export type Ask = {
  readonly port: number;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** False: a new connection. */
  readonly agent?: Agent | false;
  /** Waits for 100 Continue before the body. */
  readonly polite?: boolean;
};

export type Outcome = {
  /** 0 when no answer began. */
  readonly status: number;
  /** Connection error before or during the response. */
  readonly error: string | null;
  readonly retryAfter: boolean;
  /** Whether 100 Continue arrived; null when the request did not wait. */
  readonly asked: boolean | null;
  /** On the clock of performance.now(). */
  readonly startedAt: number;
  /** To the last byte of the answer. */
  readonly ms: number;
};

export function exchange(ask: Ask): Promise<Outcome> {
  const { port, method = 'GET', path, headers = {}, body, agent = false, polite = false } = ask;
  const startedAt = performance.now();
  return new Promise((resolve) => {
    let answer: IncomingMessage | null = null;
    let asked = polite ? false : null;
    const settle = (error: string | null) =>
      resolve({
        status: answer?.statusCode ?? 0,
        error,
        retryAfter: answer?.headers['retry-after'] !== undefined,
        asked,
        startedAt,
        ms: performance.now() - startedAt,
      });
    const sent = request({ port, host: '127.0.0.1', method, path, headers, agent }, (response) => {
      answer = response;
      response.on('end', () => settle(null)).on('error', (error) => settle(codeOf(error)));
      response.resume();
      if (polite) sent.end();
    });
    sent.on('error', (error) => settle(codeOf(error)));
    sent.on('continue', () => {
      asked = true;
      sent.end(body);
    });
    if (polite) sent.flushHeaders();
    else sent.end(body);
  });
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? error.message;
}

/** An upload that the service analyses. */
export function analysis(
  { port, token }: { readonly port: number; readonly token: string },
  body: Uint8Array,
  options: Partial<Ask> = {},
): Ask {
  const headers = {
    'Content-Type': contentType,
    'Content-Length': String(body.length),
    Authorization: `Bearer ${token}`,
    ...(options.polite ? { Expect: '100-continue' } : {}),
    ...options.headers,
  };
  return { port, method: 'POST', path: '/v1/analyze', body, ...options, headers };
}
