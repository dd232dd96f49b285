/** Tokens of the fleet, made and revoked as an operator would: by the command, on the shared database. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Fleet } from './fleet.ts';

const entry = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));

export function createToken(fleet: Pick<Fleet, 'settings'>, name: string): string {
  const scopes = 'analyze:emotion,analyze:cognitive';
  return command(fleet, 'create', '--name', name, '--scopes', scopes).trim();
}

export function revokeToken(fleet: Pick<Fleet, 'settings'>, name: string): void {
  command(fleet, 'revoke', name);
}

function command({ settings }: Pick<Fleet, 'settings'>, ...args: string[]): string {
  const { UNDERTONE_DATABASE_URL } = settings;
  const env = { PATH: process.env.PATH, UNDERTONE_DATABASE_URL };
  return execFileSync(process.execPath, [entry, 'token', ...args], { env, encoding: 'utf8', stdio: 'pipe' });
}
