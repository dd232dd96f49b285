/** A small HTTP server that gives the answers it was told to, in turn, the last one for ever. */
import type { ExecutionContext } from 'ava';
import { listen } from './listening.ts';

export type ScriptedResponse = {
  /** Null: the connection is cut instead. */
  readonly status: number | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Before it answers. */
  readonly ms?: number;
};

export type ScriptedServer = {
  readonly url: string;
  /** Bytes of the body of each request. */
  readonly lengths: readonly number[];
};

export async function startScriptedServer(
  t: Pick<ExecutionContext, 'teardown'>,
  answers: readonly ScriptedResponse[],
): Promise<ScriptedServer> {
  const lengths: number[] = [];
  const port = await listen(t, (request, response) => {
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
    });
    request.on('end', () => {
      const told = answers[Math.min(lengths.length, answers.length - 1)] as ScriptedResponse;
      lengths.push(length);
      if (told.status === null) return request.socket.destroy();
      response.writeHead(told.status, { 'Content-Type': 'application/json', ...told.headers });
      setTimeout(() => response.end(JSON.stringify(told.body ?? {})), told.ms ?? 0).unref();
    });
  });
  return { url: `http://127.0.0.1:${port}`, lengths };
}
