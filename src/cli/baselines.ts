/** The option `--baseline`, which may be given several times. */
import { readFile } from 'node:fs/promises';
import { maxBaselines } from '../analysis/types.ts';
import { expected } from './context.ts';

export const baselineOption = [
  '--baseline <file>',
  `the same speaker at rest: makes load and processing relative; up to ${maxBaselines} times`,
] as const;

export const collect = (path: string, paths: readonly string[]) => [...paths, path];

/** @throws UsageError */
export async function readBaselines(paths: readonly string[]): Promise<Uint8Array[]> {
  if (paths.length > maxBaselines)
    throw expected(`at most ${maxBaselines} files`, '--baseline', String(paths.length));
  const read = (path: string) =>
    readFile(path).catch((error: Error) => {
      throw expected('a readable file', '--baseline', error.message);
    });
  return Promise.all(paths.map(read));
}
