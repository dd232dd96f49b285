/** Programs of the system that a fault or a fence is made with. */
import { execFileSync } from 'node:child_process';

export function system(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Namespaces, mounts and limits of others are root's; a check that is skipped would say nothing. */
export function requireRoot(what: string): void {
  if (process.getuid?.() === 0) return;
  throw new TypeError(`Expected root for \`${what}\`, got user ${process.getuid?.()}: run it as root`);
}
