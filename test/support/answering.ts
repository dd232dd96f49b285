/** A small HTTP server that gives the answers it was told to, in turn, the last one for ever. */
import type { ExecutionContext } from 'ava';
import { listen } from './listening.ts';

export type Told = {
  /** Null: the connection is cut instead. */
  readonly status: number | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Before it answers. */
  readonly ms?: number;
};

export type Answering = {
  readonly url: string;
  /** When each request was there whole, ms. */
  readonly times: readonly number[];
  /** Bytes of each body. */
  readonly lengths: readonly number[];
};

export async function startAnswering(
  t: Pick<ExecutionContext, 'teardown'>,
  answers: readonly Told[],
): Promise<Answering> {
  const times: number[] = [];
  const lengths: number[] = [];
  const port = await listen(t, (request, response) => {
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
    });
    request.on('end', () => {
      const told = answers[Math.min(times.length, answers.length - 1)] as Told;
      times.push(performance.now());
      lengths.push(length);
      if (told.status === null) return request.socket.destroy();
      response.writeHead(told.status, { 'Content-Type': 'application/json', ...told.headers });
      setTimeout(() => response.end(JSON.stringify(told.body ?? {})), told.ms ?? 0);
    });
  });
  return { url: `http://127.0.0.1:${port}`, times, lengths };
}

/** Whole seconds between one request and the next. */
export function pauses({ times }: Answering): number[] {
  return times.slice(1).map((time, index) => Math.floor((time - (times[index] as number)) / 1000 + 0.05));
}
