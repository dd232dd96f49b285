/** Feature extraction is linear in time and takes no memory but its result. */
import { longAudio } from '../audio.ts';
import { atMost, figure, type Row, runProgram } from '../case.ts';
import { buildBenchmark } from '../native.ts';

type Linear = {
  readonly short: readonly number[];
  readonly long: readonly number[];
  readonly heap: number;
  readonly features: number;
};

const mebibyte = 2 ** 20;

export async function run(): Promise<readonly Row[]> {
  const linear = JSON.parse(runProgram(buildBenchmark('linear'), [longAudio()])) as Linear;
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
