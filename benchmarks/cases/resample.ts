/** Rate conversion to 16 kHz against soxr's own one-shot call at HQ: the same 60 s of noise, in turns. */
import { atLeast, figure, type Row } from '../case.ts';
import { buildBenchmark, readLines } from '../native.ts';

type Line = {
  readonly rate: number;
  readonly ours: readonly number[];
  readonly peer: readonly number[];
  readonly snr: number;
  readonly alias: number;
};

const rounds = 25;

function quality(name: string, value: number, goal: string, met: boolean): Row {
  return { name, unit: 'dB', peer: null, ours: figure([value]), goal, ratio: null, met, note: '' };
}

function rows({ rate, ours, peer, snr, alias }: Line): Row[] {
  const name = `${rate} to 16000 Hz`;
  const speed = {
    name,
    unit: 'ms',
    peer: figure(peer),
    ours: figure(ours),
    note: '60 s; peer: soxr_oneshot HQ',
  };
  return [
    atLeast(0.95, speed),
    quality(`${name}, signal to noise`, snr, '>= 100', snr >= 100),
    quality(`${name}, alias`, alias, '<= -80', alias <= -80),
  ];
}

export async function run(): Promise<readonly Row[]> {
  return readLines<Line>(buildBenchmark('resample'), [String(rounds)]).flatMap(rows);
}
