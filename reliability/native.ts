/** The native code built another way than it ships, each way in a folder of its own. */
import { join } from 'node:path';
import { root, runProgram } from '../benchmarks/case.ts';

/** @returns the folder of what was built */
export function buildNative(
  name: string,
  settings: Readonly<Record<string, string>>,
  targets: readonly string[],
): string {
  const folder = join(root, 'build', name);
  const definitions = Object.entries(settings).map(([key, value]) => `-D${key}=${value}`);
  console.error(`building ${targets.join(', ')} in build/${name}`);
  runProgram('cmake', ['-S', root, '-B', folder, ...definitions]);
  runProgram('cmake', ['--build', folder, '--parallel', '2', '--target', ...targets]);
  return folder;
}
