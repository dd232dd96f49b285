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
};

export function createHost(namespace: Namespace, env: Readonly<Record<string, string>>): Host {
  const running = new Set<ChildProcess>();
  let server: ChildProcess | null = null;
  let log = '';
  const dataDir = mkdtempSync(join(tmpdir(), 'undertone-host-'));
  process.once('exit', () => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** Resolves when it says that it is ready. */
  async function launch(settings: NodeJS.ProcessEnv): Promise<ChildProcess> {
    const [program = '', ...args] = [...namespace.enter, process.execPath, 'dist/src/cli.js', 'serve'];
    const child = spawn(program, args, {
      cwd: root,
      env: { PATH: process.env.PATH, UNDERTONE_DATA_DIR: dataDir, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    child.once('close', () => running.delete(child));
    child.stderr.on('data', (text) => {
      log += text;
    });
    await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
    if (!running.has(child)) throw new Error(`Expected ${namespace.name} to serve, got: ${log}`);
    return child;
  }

  async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
    if (!running.has(child)) return null;
    const ended = once(child, 'close');
    child.kill(signal);
    const [code] = (await ended) as [number | null];
    return code;
  }

  return {
    name: namespace.name,
    url: `http://${namespace.address}:${port}`,
    start: async () => {
      server = await launch({
        NODE_ENV: 'production',
        UNDERTONE_HOST: namespace.address,
        UNDERTONE_PORT: String(port),
        UNDERTONE_TRUST_PROXY: '1',
        ...env,
      });
    },
    stop: async (signal = 'SIGTERM') => (server === null ? null : end(server, signal)),
  };
}
