/** Programs of the system that a fault or a fence is made with. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

export function system(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Namespaces, mounts and limits of others are root's; a check that is skipped would say nothing. */
export function requireRoot(what: string): void {
  if (process.getuid?.() === 0) return;
  throw new TypeError(`Expected root for \`${what}\`, got user ${process.getuid?.()}: run it as root`);
}

/** Installs the Debian package when the file is absent. */
export function requireFile(path: string, debian: string): string {
  if (!existsSync(path)) system('apt-get', 'install', '-y', '-qq', '--no-install-recommends', debian);
  if (existsSync(path)) return path;
  throw new TypeError(`Expected ${path} of the Debian package ${debian}, got none`);
}
