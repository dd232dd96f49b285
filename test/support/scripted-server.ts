/** A small HTTP server that sends the given responses in turn, and then repeats the last one. */
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
      const scripted = answers[Math.min(lengths.length, answers.length - 1)] as ScriptedResponse;
      lengths.push(length);
      if (scripted.status === null) return request.socket.destroy();
      response.writeHead(scripted.status, { 'Content-Type': 'application/json', ...scripted.headers });
      setTimeout(() => response.end(JSON.stringify(scripted.body ?? {})), scripted.ms ?? 0).unref();
    });
  });
  return { url: `http://127.0.0.1:${port}`, lengths };
}
