/** The built service as a process of its own, with a data folder that goes when it does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

export async function startService(env: Readonly<Record<string, string>> = {}): Promise<Service> {
  const dataDir = mkdtempSync(join(tmpdir(), 'undertone-bench-'));
  const settings = { UNDERTONE_PORT: '0', UNDERTONE_DATA_DIR: dataDir, UNDERTONE_TOKEN: token };
  const started = performance.now();
  const child = spawn(process.execPath, [join(root, 'dist/src/cli.js'), 'serve'], {
    cwd: root,
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

/** Processor time of a process so far; Linux counts it in ticks of 10 ms. */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Memory of a process in MiB: what is resident, or the most that has been since `forgetPeak`. */
export function mebibytes(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${what}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
}

export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
