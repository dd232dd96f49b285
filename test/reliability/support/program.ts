/** Runs programs to their end. */
import { spawnSync } from 'node:child_process';
import { root } from '../../../benchmarks/case.ts';
import type { Outcome } from '../../../scripts/results.ts';

type Options = { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string };

/** Standard output, then standard error. */
export function execute(program: string, args: readonly string[], options: Options = {}): Outcome {
  const { env = process.env, cwd = root } = options;
  const ended = spawnSync(program, args, { cwd, env, encoding: 'utf8', maxBuffer: 1 << 28 });
  return { status: ended.status, output: `${ended.stdout}${ended.stderr}` };
}

/** Namespaces, mounts and limits need root; a skipped check would pass unnoticed. */
export function requireRoot(what: string): void {
  if (process.getuid?.() === 0) return;
  throw new TypeError(`Expected root for \`${what}\`, got user ${process.getuid?.()}: run it as root`);
}
