/** Node.js and npm from the npm registry, and the packages under test. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from '../../scripts/prebuild/step.ts';
import { cache } from './recordings.ts';

export const installOptions = '--ignore-scripts --no-audit --no-fund --save-optional';

/** Returns the folder of the newest version of a package within a major version. */
export function fetchPackage(name: string, major: string): string {
  const folder = join(cache, `${name}-${major}`);
  if (existsSync(join(folder, 'package'))) return join(folder, 'package');
  mkdirSync(folder, { recursive: true });
  const [packed] = JSON.parse(run('npm', ['pack', '--json', `${name}@${major}`], { cwd: folder }));
  run('tar', ['-xzf', packed.filename], { cwd: folder });
  rmSync(join(folder, packed.filename));
  return join(folder, 'package');
}

/** Paths. */
export function archives(): string[] {
  const folder = join(root, 'dist/packages');
  return readdirSync(folder).map((name) => join(folder, name));
}

/** Megabytes of an installation. */
export function installedSize(folder: string): string {
  return `${run('du', ['-sm', join(folder, 'node_modules')]).split('\t')[0]} MB`;
}
