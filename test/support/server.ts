/** The built service as its own process, on a free port with a data folder of its own. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { requireFile } from '../../scripts/run-script.ts';
import { follow, type Running } from './cli.ts';

export type Server = Started & {
  readonly url: string;
  readonly port: number;
  /** A token with every scope. */
  readonly token: string;
};

export const staticToken = 'static-token-of-the-tests';
const root = fileURLToPath(new URL('../../', import.meta.url));
const entry = 'dist/src/cli.js';

type Started = Running & { readonly dataDir: string };

/** @throws ExpectedError when the service is not built */
export function requireBuild(): void {
  requireFile(join(root, entry), 'run `npm run setup`');
}

/** Starts it without waiting for anything. @param cwd folder of a built tree; by default this one */
export async function spawnServer(
  t: Pick<ExecutionContext, 'teardown'>,
  env: Readonly<Record<string, string>> = {},
  cwd = root,
): Promise<Started> {
  const dataDir = await mkdtemp(join(tmpdir(), 'undertone-data-'));
  const { PATH, UNDERTONE_MODELS_DIR } = process.env;
  const settings = {
    UNDERTONE_PORT: '0',
    UNDERTONE_METRICS_ADDRESS: 'public',
    UNDERTONE_DATA_DIR: dataDir,
    UNDERTONE_TOKEN: staticToken,
    // Each worker loads its models.
    UNDERTONE_WORKERS: '1',
    // Out of reach of a busy machine, unless a test is about it.
    UNDERTONE_DEADLINE_S: '600',
    ...(UNDERTONE_MODELS_DIR === undefined ? {} : { UNDERTONE_MODELS_DIR }),
  };
  const child = spawn(process.execPath, [join(cwd, entry), 'serve'], {
    cwd,
    env: { PATH, ...settings, ...env },
  });
  const running = follow(t, child);
  t.teardown(async () => {
    await running.stop('SIGKILL');
    await rm(dataDir, { recursive: true, force: true });
  });
  return { dataDir, ...running };
}

/** Resolves when it listens and its models are warm. */
export async function startServer(
  t: Pick<ExecutionContext, 'teardown'>,
  env: Readonly<Record<string, string>> = {},
  cwd = root,
): Promise<Server> {
  const started = await spawnServer(t, env, cwd);
  const [, url = ''] = await started.printed(/^listening on (\S+)\n/m);
  return { ...started, url, port: Number(new URL(url).port), token: env.UNDERTONE_TOKEN ?? staticToken };
}

/** A token that the running server accepts. */
export function makeToken(
  { dataDir }: Pick<Server, 'dataDir'>,
  scopes: string,
  name = 'made',
  ...more: readonly string[]
): string {
  const args = [join(root, entry), 'token', 'create', '--name', name, '--scopes', scopes, ...more];
  const env = { PATH: process.env.PATH, UNDERTONE_DATA_DIR: dataDir };
  return execFileSync(process.execPath, args, { env, encoding: 'utf8', stdio: 'pipe' }).trim();
}
