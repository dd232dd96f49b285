/** Builds of the native code under sanitizers. */
import { buildNative } from '../../../benchmarks/native.ts';
import { installPackages } from '../../../benchmarks/packages.ts';

const compiler = { CMAKE_C_COMPILER: 'clang', CMAKE_CXX_COMPILER: 'clang++' };

/** Fuzzers and tests under the sanitizers of memory and of undefined behaviour: one build for both. */
export function buildChecked(targets: readonly string[]): string {
  installPackages(['clang', 'libclang-rt-14-dev']);
  const sanitizers = 'address,undefined,float-cast-overflow';
  const settings = { SANITIZE: sanitizers, UNDERTONE_FUZZERS: 'ON', UNDERTONE_TESTS: 'ON' };
  return buildNative('checked', { ...compiler, ...settings }, targets);
}

/** Tests under the sanitizer of threads. */
export function buildThreads(targets: readonly string[]): string {
  return buildNative('threads', { ...compiler, SANITIZE: 'thread', UNDERTONE_TESTS: 'ON' }, targets);
}
