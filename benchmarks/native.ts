import { join } from 'node:path';
import { root, runProgram } from './case.ts';

/** Builds benchmarks/native/NAME.cc against the core and returns the program's path. */
export function buildNative(name: string): string {
  const folder = join(root, 'build', 'benchmarks');
  runProgram('cmake', ['-S', root, '-B', folder, '-DUNDERTONE_BENCHMARKS=ON', '-DCMAKE_BUILD_TYPE=Release']);
  runProgram('cmake', ['--build', folder, '--parallel', '2', '--target', `benchmark_${name}`]);
  return join(folder, `benchmark_${name}`);
}

/** The JSON lines a program prints. */
export function readLines<Line>(program: string, args: readonly string[]): Line[] {
  const lines = runProgram(program, args).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Line);
}
