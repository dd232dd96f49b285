/** `undertone worker` as its own process, beside a server of the tests. */
import { once } from 'node:events';
import { outputOf, startCli } from './cli.ts';
import type { Exit } from './server.ts';

export type WorkerProcess = {
  readonly pid: number;
  stderr(): string;
  /** Resolves when its log has a line like that. */
  until(pattern: RegExp): Promise<string>;
  end(signal: NodeJS.Signals): Promise<Exit>;
};

type Teardown = { teardown(clean: () => Promise<unknown>): void };

/** Resolves when it takes jobs. */
export async function startWorker(
  t: Teardown,
  env: Readonly<Record<string, string>>,
): Promise<WorkerProcess> {
  const child = startCli(['worker'], { env });
  const { stdout, stderr } = outputOf(child);
  const wakes = new Set<() => void>();
  const wake = () => {
    for (const look of [...wakes]) look();
  };
  child.stdout?.on('data', wake);
  child.stderr?.on('data', wake);
  const exit = once(child, 'close').then(([code, signal]) => ({ code, signal }) as Exit);
  const until = (text: () => string, pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        if (!pattern.test(text())) return;
        wakes.delete(look);
        resolve(text());
      };
      wakes.add(look);
      void exit.then(({ code }) => reject(new Error(`the worker ended with ${code}: ${stderr()}`)));
      look();
    });
  t.teardown(async () => {
    child.kill('SIGKILL');
    await exit;
  });
  await until(stdout, /^working/m);
  return {
    pid: child.pid as number,
    stderr,
    until: (pattern) => until(stderr, pattern),
    end: (signal) => {
      child.kill(signal);
      return exit;
    },
  };
}
