/** Feature extraction is linear in time and takes no memory but its result. */
import { join } from 'node:path';
import { longAudio } from '../audio.ts';
import { atMost, cacheFolder, figure, type Row, root, runProgram } from '../case.ts';

type Linear = {
  readonly short: readonly number[];
  readonly long: readonly number[];
  readonly heap: number;
  readonly features: number;
};

const mebibyte = 2 ** 20;

export async function run(): Promise<readonly Row[]> {
  const build = cacheFolder('native');
  runProgram('cmake', ['-S', root, '-B', build, '-DUNDERTONE_BENCHMARKS=ON']);
  runProgram('cmake', ['--build', build, '--target', 'benchmark_linear', '-j', '2']);
  const linear = JSON.parse(runProgram(join(build, 'benchmark_linear'), [longAudio()])) as Linear;
  const allowed = (2 * linear.features) / mebibyte + 16;
  return [
    atMost(1.15, {
      name: 'log-mel 80: 600 s against 10 s',
      unit: 'CPU ns/frame',
      peer: figure(linear.short),
      ours: figure(linear.long),
      note: '',
    }),
    atMost(1, {
      name: 'peak memory of 600 s against 2 x features + 16 MiB',
      unit: 'MiB',
      peer: figure([allowed]),
      ours: figure([linear.heap / mebibyte]),
      note: '',
    }),
  ];
}
