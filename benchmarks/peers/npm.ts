/** Programs of npm packages that only a few runs need, each in a git-ignored folder of its own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, runProgram } from '../case.ts';

/** @param packages NAME@VERSION; the first names the folder @returns the folder whose node_modules has them */
export function installNpm(...packages: readonly [string, ...string[]]): string {
  const folder = cacheFolder(`npm/${packages[0].replaceAll(/[@/]+/g, '-').replace(/^-/, '')}`);
  // npm writes this file last.
  if (existsSync(join(folder, 'node_modules', '.package-lock.json'))) return folder;
  console.error(`installing ${packages.join(', ')}`);
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--silent'];
  runProgram('npm', ['install', '--prefix', folder, ...options, ...packages]);
  return folder;
}

export function installTransformers(): string {
  return installNpm('@huggingface/transformers@4.3.1');
}
