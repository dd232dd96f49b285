/** One host of the fleet: the built service in a namespace of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Namespace } from './network.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
export const port = 8080;

export type Host = {
  readonly name: string;
  /** Reached from the machine, past the load balancer. */
  readonly url: string;
  /** Resolves when it is ready. */
  start(): Promise<void>;
  /** Resolves with its exit code when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** `undertone work` beside it, on its address; resolves when it takes jobs, with what ends it. */
  work(): Promise<(signal: NodeJS.Signals) => Promise<unknown>>;
  /** Lines on standard error, of every start. */
  log(): string;
};

export function createHost(namespace: Namespace, env: Readonly<Record<string, string>>): Host {
  let child: ChildProcess | null = null;
  let worker: ChildProcess | null = null;
  let log = '';
  const dataDir = mkdtempSync(join(tmpdir(), 'undertone-host-'));
  process.once('exit', () => {
    child?.kill('SIGKILL');
    worker?.kill('SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  });
  const settings = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    UNDERTONE_HOST: namespace.address,
    UNDERTONE_PORT: String(port),
    UNDERTONE_DATA_DIR: dataDir,
    UNDERTONE_TRUST_PROXY: '1',
    ...env,
  };

  async function start(): Promise<void> {
    const [program = '', ...args] = [...namespace.enter, process.execPath, 'dist/src/cli.js', 'serve'];
    const started = spawn(program, args, { cwd: root, env: settings, stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    started.stderr.on('data', (text) => {
      log += text;
    });
    started.once('close', () => {
      if (child === started) child = null;
    });
    await Promise.race([once(started.stdout, 'data'), once(started, 'close')]);
    if (child === null) throw new Error(`Expected ${namespace.name} to start, got: ${log}`);
  }

  async function stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (child === null) return null;
    const ended = once(child, 'close');
    child.kill(signal);
    const [code] = (await ended) as [number | null];
    return code;
  }

  async function work(): Promise<(signal: NodeJS.Signals) => Promise<unknown>> {
    const { UNDERTONE_DATABASE_URL, UNDERTONE_REDIS_URL, UNDERTONE_SECRET } = env;
    const shared = { UNDERTONE_DATABASE_URL, UNDERTONE_REDIS_URL, UNDERTONE_SECRET, UNDERTONE_WORKERS: '1' };
    const [program = '', ...args] = [...namespace.enter, process.execPath, 'dist/src/cli.js', 'work'];
    const started = spawn(program, args, {
      cwd: root,
      env: { PATH: process.env.PATH, UNDERTONE_DATA_DIR: dataDir, ...shared },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    worker = started;
    const ended = once(started, 'close');
    await Promise.race([once(started.stdout, 'data'), ended]);
    return (signal) => {
      started.kill(signal);
      return ended;
    };
  }

  return {
    name: namespace.name,
    url: `http://${namespace.address}:${port}`,
    start,
    stop,
    work,
    log: () => log,
  };
}
