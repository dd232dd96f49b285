/** One request with its retries. */
import type { CallOptions, ClientOptions } from './client.ts';
import { NoAnswerError, readError } from './errors.ts';
import { withRetries } from './retry.ts';

export const defaultTimeoutMs = 60_000;

export function baseOf({ url }: ClientOptions): URL {
  return new URL(`${String(url).replace(/\/*$/, '')}/`);
}

export function toJson(value: object): Pick<RequestInit, 'body' | 'headers'> {
  return { body: JSON.stringify(value), headers: { 'Content-Type': 'application/json' } };
}

/** @throws ApiError, NoAnswerError */
export async function request<Answer>(
  path: string,
  content: RequestInit,
  options: ClientOptions & CallOptions,
): Promise<Answer> {
  const { token, retries = 3, signal } = options;
  const headers = {
    ...content.headers,
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  };
  const place = new URL(path, baseOf(options));
  let attempts = 0;
  const attempt = () => {
    attempts++;
    return send(place, { ...content, headers }, options);
  };
  const response = await withRetries(attempt, { retries, signal });
  // The lost answer of an earlier attempt said that it was deleted.
  const isDeleted = content.method === 'DELETE' && attempts > 1 && response.status === 404;
  if (!response.ok && !isDeleted) throw await readError(response);
  return (await response.json()) as Answer;
}

/** The body of an answer is small, and read within the same time. */
async function send(place: URL, request: RequestInit, options: CallOptions): Promise<Response> {
  const { signal, timeoutMs = defaultTimeoutMs } = options;
  const over = new AbortController();
  const late = new NoAnswerError(`Expected an answer within ${timeoutMs} ms from ${place.origin}, got none`);
  const timer = setTimeout(() => over.abort(late), timeoutMs);
  const end = () => over.abort(signal?.reason);
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();
  try {
    // Redirects are not followed: the target would receive the recording and the token.
    const response = await fetch(place, { ...request, redirect: 'error', signal: over.signal });
    return new Response(await response.arrayBuffer(), response);
  } catch (cause) {
    if (over.signal.aborted) throw over.signal.reason;
    throw new NoAnswerError(`Expected an answer from ${place.origin}, got none`, { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}
