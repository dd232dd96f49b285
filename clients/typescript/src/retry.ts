/** Retry policy: which responses are retried, and after which delay. */
import { maxDelaySeconds, NoAnswerError, retryAfterOf } from './errors.ts';

/** 502 and 504 come from proxies. */
export const retried: readonly number[] = [500, 502, 503, 504];
const maxReconnectSeconds = 30;

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
    const asked = response === null ? null : retryAfterOf(response.headers);
    await sleep(1000 * Math.min(maxDelaySeconds, Math.max(2 ** done, asked ?? 0)), signal);
  }
}

/** Delay before a new session, drawn between 0 and 1, 2, 4 and so on up to 30 s, or `Retry-After` if that is longer. */
export function reconnectDelayMs(done: number, asked: number | null): number {
  return 1000 * Math.max(Math.random() * Math.min(maxReconnectSeconds, 2 ** done), asked ?? 0);
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
