/** The built service as its own process, on a free port with a data folder of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { outputOf } from './cli.ts';

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type Server = {
  readonly url: string;
  readonly port: number;
  /** A token with every scope. */
  readonly token: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves when standard error matches. */
  logged(pattern: RegExp): Promise<RegExpExecArray>;
  readonly exit: Promise<Exit>;
  stop(signal?: NodeJS.Signals): Promise<Exit>;
};

export const staticToken = 'static-token-of-the-tests';
const root = fileURLToPath(new URL('../../', import.meta.url));
const entry = join(root, 'dist/src/cli.js');

type Started = Omit<Server, 'url' | 'port' | 'token' | 'stop'>;

/** Starts it without waiting for anything. */
export async function spawnServer(
  t: Pick<ExecutionContext, 'teardown'>,
  env: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const dataDir = await mkdtemp(join(tmpdir(), 'undertone-data-'));
  const { PATH, UNDERTONE_MODELS_DIR } = process.env;
  const settings = {
    UNDERTONE_PORT: '0',
    UNDERTONE_DATA_DIR: dataDir,
    UNDERTONE_TOKEN: staticToken,
    // Out of reach of a busy machine, unless a test is about it.
    UNDERTONE_DEADLINE_S: '600',
    ...(UNDERTONE_MODELS_DIR === undefined ? {} : { UNDERTONE_MODELS_DIR }),
  };
  const child = spawn(process.execPath, [entry, 'serve'], { cwd: root, env: { PATH, ...settings, ...env } });
  const output = outputOf(child);
  const exit = once(child, 'close').then(([code, signal]) => ({ code, signal }) as Exit);
  t.teardown(async () => {
    child.kill('SIGKILL');
    await exit;
    await rm(dataDir, { recursive: true, force: true });
  });
  const logged = async (pattern: RegExp) => {
    for (;;) {
      const match = pattern.exec(output.stderr());
      if (match !== null) return match;
      const ended = await Promise.race([once(child.stderr, 'data').then(() => false), exit.then(() => true)]);
      if (ended && !pattern.test(output.stderr())) {
        throw new Error(`Expected ${pattern} in the log, got: ${output.stderr()}`);
      }
    }
  };
  return { dataDir, process: child, ...output, logged, exit };
}

/** Resolves when it listens and its models are warm. */
export async function startServer(
  t: Pick<ExecutionContext, 'teardown'>,
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const started = await spawnServer(t, env);
  const ready = new Promise<string>((resolve) => {
    started.process.stdout?.on('data', () => {
      const url = /^listening on (\S+)\n/m.exec(started.stdout())?.[1];
      if (url !== undefined) resolve(url);
    });
  });
  const url = await Promise.race([ready, started.exit]);
  if (typeof url !== 'string') throw new Error(`the server ended with ${url.code}: ${started.stderr()}`);
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    started.process.kill(signal);
    return started.exit;
  };
  return {
    ...started,
    url,
    port: Number(new URL(url).port),
    token: env.UNDERTONE_TOKEN ?? staticToken,
    stop,
  };
}

/** A token that the running server takes as it takes any other. */
export function makeToken(
  { dataDir }: Pick<Server, 'dataDir'>,
  scopes: string,
  name = 'made',
  ...more: readonly string[]
): string {
  const args = [entry, 'token', 'create', '--name', name, '--scopes', scopes, ...more];
  const env = { PATH: process.env.PATH, UNDERTONE_DATA_DIR: dataDir };
  return execFileSync(process.execPath, args, { env, encoding: 'utf8', stdio: 'pipe' }).trim();
}
