/** The option `--baseline`, which may be given several times. */
import { maxBaselines } from '../analysis/signals/speaker.ts';
import { expected } from './context.ts';
import { readNamedFile } from './inputs.ts';

export const baselineOption = [
  '--baseline <file>',
  `the same speaker at rest: makes load and processing relative; up to ${maxBaselines} times`,
] as const;

export const collect = (path: string, paths: readonly string[]) => [...paths, path];

/** @throws UsageError */
export async function readBaselines(paths: readonly string[], maxBytes: number): Promise<Uint8Array[]> {
  if (paths.length > maxBaselines)
    throw expected(`at most ${maxBaselines} files`, '--baseline', String(paths.length));
  return Promise.all(paths.map((path) => readNamedFile('--baseline', path, maxBytes)));
}
