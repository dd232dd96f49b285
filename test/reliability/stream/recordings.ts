/** Samples of many kinds, made by ffmpeg. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../../benchmarks/case.ts';
import { fixturesFolder } from '../../../scripts/recordings.ts';
import { inParallel } from '../support/parallel.ts';
import { createPrng, type Prng } from '../support/prng.ts';

export type Recording = {
  readonly name: string;
  readonly format: {
    readonly encoding: keyof typeof formats;
    readonly sample_rate_hz: number;
    readonly channels: number;
  };
  readonly samples: Buffer;
  /** The application ends a turn after these bytes. */
  readonly turnAt: number;
};

const execute = promisify(execFile);
const rates = [8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
/** ffmpeg's names of the raw formats. */
const formats = { s16le: 's16le', f32le: 'f32le', mulaw: 'mulaw', alaw: 'alaw' } as const;
const bytesPerSample = { s16le: 2, f32le: 4, mulaw: 1, alaw: 1 };

const file = (path: string) => (prng: Prng) => [
  '-stream_loop',
  '-1',
  '-ss',
  (4 * prng.next()).toFixed(3),
  '-i',
  path,
];
const lavfi = (source: (prng: Prng) => string) => (prng: Prng) => ['-f', 'lavfi', '-i', source(prng)];
const speech = file(join(fixturesFolder(), 'speech.wav'));
const sources: Readonly<Record<string, (prng: Prng) => string[]>> = {
  speech,
  'speech, quiet or clipped': speech,
  'speech with pauses': speech,
  'another voice': file(join(root, 'examples/sample.wav')),
  noise: lavfi(({ pick, below }) => `anoisesrc=c=${pick(['white', 'pink', 'brown'])}:seed=${below(1e6)}`),
  tone: lavfi(({ below }) => `sine=f=${80 + below(2000)}`),
  silence: lavfi(() => 'anullsrc'),
};
const names = Object.keys(sources);

function filterOf(name: string, { next }: Prng): string {
  if (name.includes('pauses')) return "volume=0:enable='gt(mod(t,1.3),0.8)'";
  const gain = name.includes('clipped') ? 80 * next() - 50 : 12 * next() - 6;
  return `volume=${gain.toFixed(1)}dB`;
}

/** Mostly short: the time is spent on many of them. */
function secondsOf({ next, oneIn }: Prng): number {
  return oneIn(40) ? 10 + 15 * next() : 0.02 + 4 * next() ** 2;
}

async function makeRecording(index: number, seed: number): Promise<Recording> {
  const prng = createPrng(seed, index);
  const name = names[index % names.length] as string;
  const encoding = prng.pick(Object.keys(formats) as (keyof typeof formats)[]);
  const sample_rate_hz = prng.oneIn(4) ? 8000 + prng.below(40_001) : prng.pick(rates);
  const channels = 1 + prng.below(2);
  const input = sources[name]?.(prng) ?? [];
  const layout = ['-t', secondsOf(prng).toFixed(4), '-ac', `${channels}`, '-ar', `${sample_rate_hz}`];
  const options = ['-nostdin', '-v', 'error', ...input, '-af', filterOf(name, prng), ...layout];
  const { stdout } = await execute('ffmpeg', [...options, '-f', formats[encoding], 'pipe:1'], {
    encoding: 'buffer',
    maxBuffer: 2 ** 28,
  });
  return {
    name: `${name}, ${encoding} at ${sample_rate_hz} Hz, ${channels} channels`,
    format: { encoding, sample_rate_hz, channels },
    samples: stdout,
    turnAt: prng.below(stdout.length / bytesPerSample[encoding]) * bytesPerSample[encoding],
  };
}

export function makeRecordings(count: number, seed: number): Promise<Recording[]> {
  const indexes = Array.from({ length: count }, (_, index) => index);
  return inParallel(indexes, 2, (index) => makeRecording(index, seed), 'making recordings');
}
