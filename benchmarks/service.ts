/** The built service as a process of its own, with a data folder that goes when it does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, runProgram } from './case.ts';
import { token } from './request/client.ts';

export type Service = {
  readonly port: number;
  readonly pid: number;
  /** From the start of the process to the line that says it listens. */
  readonly readyMs: number;
  stop(): Promise<void>;
};

/** From the sources as they are. */
export function buildService(): void {
  runProgram('npm', ['run', '--silent', 'build:service']);
  runProgram('npm', ['run', '--silent', 'build:pages']);
}

/** @param nodeArguments options of Node.js. @param folder another built tree */
export async function startService(
  env: Readonly<Record<string, string>> = {},
  nodeArguments: readonly string[] = [],
  folder = root,
): Promise<Service> {
  const dataDir = mkdtempSync(join(tmpdir(), 'undertone-bench-'));
  const settings = {
    UNDERTONE_PORT: '0',
    UNDERTONE_METRICS_ADDRESS: 'public',
    UNDERTONE_DATA_DIR: dataDir,
    UNDERTONE_TOKEN: token,
  };
  const started = performance.now();
  const child = spawn(process.execPath, [...nodeArguments, join(folder, 'dist/src/cli.js'), 'serve'], {
    cwd: folder,
    env: { ...process.env, ...settings, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'close');
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  const readyMs = performance.now() - started;
  const port = Number(/:(\d+)\n/.exec(String(line))?.[1]);
  if (!(port > 0)) throw new Error(`Expected the service to listen, got exit code ${String(line)}`);
  return {
    port,
    pid: child.pid as number,
    readyMs,
    stop: async () => {
      child.kill();
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
