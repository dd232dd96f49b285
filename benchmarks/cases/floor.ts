/** Log-mel extraction against the time that its arithmetic alone would take in the units of this processor. */
import { longAudio } from '../audio.ts';
import { atMost, figure, type Row } from '../case.ts';
import { buildBenchmark, readLines } from '../native.ts';

type Line = {
  readonly lanes: number;
  readonly flops: number;
  readonly gflops: readonly number[];
  readonly ns: readonly number[];
};

const names: Readonly<Record<number, string>> = { 4: 'SSE2', 8: 'AVX2', 16: 'AVX-512' };

function row({ lanes, flops, gflops, ns }: Line): Row {
  const peak = figure(gflops);
  return atMost(4, {
    name: `log-mel 80, ${names[lanes]}`,
    unit: 'CPU ns/frame',
    peer: figure(gflops.map((rate) => flops / rate)),
    ours: figure(ns),
    note: `peer: ${flops} operations a frame at ${peak?.median.toFixed(0)} GFLOP/s, the peak that a probe reaches`,
  });
}

export async function run(): Promise<readonly Row[]> {
  return readLines<Line>(buildBenchmark('floor'), [longAudio()]).map(row);
}
