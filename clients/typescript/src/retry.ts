/** Retry policy: which responses are retried, and after which delay. */
import { NoAnswerError } from './errors.ts';

/** 502 and 504 come from proxies. */
const retried: readonly number[] = [500, 502, 503, 504];

export type RetryOptions = {
  /** After the first attempt. */
  readonly retries: number;
  readonly signal?: AbortSignal | undefined;
};

/** Delay after a lost connection or such a response: 1, 2, 4 s and so on, or `Retry-After` if that is longer. */
export async function withRetries(
  attempt: () => Promise<Response>,
  { retries, signal }: RetryOptions,
): Promise<Response> {
  for (let done = 0; ; done++) {
    const last = done >= retries;
    const response = await attempt().catch((error: unknown) => {
      if (last || !(error instanceof NoAnswerError && error.connectionLost)) throw error;
      return null;
    });
    if (response !== null && (last || !retried.includes(response.status))) return response;
    await response?.body?.cancel();
    await sleep(Math.max(1000 * 2 ** done, askedFor(response?.headers.get('Retry-After') ?? null)), signal);
  }
}

/** Milliseconds; the header holds seconds or a date. */
function askedFor(retryAfter: string | null): number {
  if (retryAfter === null) return 0;
  const ms = /^\d+$/.test(retryAfter) ? 1000 * Number(retryAfter) : Date.parse(retryAfter) - Date.now();
  return Number.isFinite(ms) ? ms : 0;
}

export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
