/** Native code built another way than it ships, each way in a folder of its own. */
import { join } from 'node:path';
import { root, runProgram } from './case.ts';

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

/** Builds benchmarks/native/NAME.cc against the core and returns the program's path. */
export function buildBenchmark(name: string): string {
  const program = `benchmark_${name}`;
  const settings = { UNDERTONE_BENCHMARKS: 'ON', CMAKE_BUILD_TYPE: 'Release' };
  return join(buildNative('benchmarks', settings, [program]), program);
}

/** The JSON lines that a program prints. */
export function parseLines<Line>(output: string): Line[] {
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Line);
}
