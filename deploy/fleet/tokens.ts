/** Tokens of the fleet, created as an operator does: by the command, on the shared database. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { scopes } from '../../src/service/auth/token-format.ts';
import type { Fleet } from './fleet.ts';

const entry = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));

export function createToken({ settings }: Pick<Fleet, 'settings'>, name: string): string {
  const { UNDERTONE_DATABASE_URL } = settings;
  const env = { PATH: process.env.PATH, UNDERTONE_DATABASE_URL };
  const args = [entry, 'token', 'create', '--name', name, '--scopes', scopes.join(',')];
  return execFileSync(process.execPath, args, { env, encoding: 'utf8', stdio: 'pipe' }).trim();
}
