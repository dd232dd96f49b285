/** transformers.js from npm, in a git-ignored folder. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, runProgram } from '../case.ts';

const npmPackage = '@huggingface/transformers@4.3.1';

/** @returns the folder whose node_modules has the package */
export function installTransformers(): string {
  const folder = cacheFolder('peers/npm');
  if (existsSync(join(folder, 'node_modules', '@huggingface'))) return folder;
  console.error(`installing ${npmPackage}`);
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--silent'];
  runProgram('npm', ['install', '--prefix', folder, ...options, npmPackage]);
  return folder;
}
