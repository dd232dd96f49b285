/** The native code built another way than it ships, each way in a folder of its own. */
import { join } from 'node:path';
import { root, runProgram } from '../benchmarks/case.ts';

const compiler = { CMAKE_C_COMPILER: 'clang', CMAKE_CXX_COMPILER: 'clang++' };

/** Fuzzers and tests under the sanitizers of memory and of undefined behaviour: one build for both. */
export const checked = {
  compiler,
  folder: 'checked',
  settings: {
    ...compiler,
    SANITIZE: 'address,undefined,float-cast-overflow',
    UNDERTONE_FUZZERS: 'ON',
    UNDERTONE_TESTS: 'ON',
  },
};

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
