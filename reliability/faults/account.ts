/** What needs the database: the status that a request of each kind gets. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../benchmarks/case.ts';
import { ask } from '../chaos/upload.ts';
import type { Server } from '../service.ts';

const password = 'correct horse battery staple';

type Address = Pick<Server, 'url'>;

export async function post(server: Address, path: 'sign-up' | 'log-in', email: string): Promise<number> {
  try {
    const response = await fetch(`${server.url}/account/api/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: server.url },
      body: JSON.stringify({ email, password }),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

export async function analyzeAs({ url }: Address, token: string): Promise<number> {
  return (await ask({ url, token }, 'fault')).status;
}

/** By the command line, as an operator does. */
export function createToken(dataDir: string, expires: string): string {
  const args = ['token', 'create', '--name', expires, '--expires', expires];
  const scopes = ['--scopes', 'analyze:emotion,analyze:cognitive'];
  const env = { PATH: process.env.PATH, UNDERTONE_DATA_DIR: dataDir };
  const command = [join(root, 'dist/src/cli.js'), ...args, ...scopes];
  return execFileSync(process.execPath, command, { env, encoding: 'utf8', stdio: 'pipe' }).trim();
}
