/** Other sounds than speech have no scores or a warning. Speech over noise has scores. */
import test from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { type CombinedReport, combinedReportSchema } from '../../src/engine/report.ts';
import { reporter } from '../support/analysis.ts';

const rate = 16_000;
const report = await reporter();

async function analyze(samples: Float32Array, sampleRate = rate): Promise<CombinedReport> {
  return combinedReportSchema.parse(await report(wavFile(samples, sampleRate)));
}

/** 5 s of samples of a function of time. */
const sound = (at: (seconds: number, index: number) => number, seconds = 5): Float32Array =>
  new Float32Array(seconds * rate).map((_, index) => at(index / rate, index));

const sine = (hertz: number, seconds: number) => Math.sin(2 * Math.PI * hertz * seconds);

/** Seeded white noise in [-1, 1]. */
function white(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

/** White noise through a first-order low pass: a higher `pole` lowers the cutoff. */
function dark(pole: number): () => number {
  const next = white(7);
  let last = 0;
  return () => {
    last = pole * last + (1 - pole) * next();
    return last;
  };
}

function noise(next: () => number, amplitude: number): Float32Array {
  return sound(() => amplitude * next());
}

const steady: Readonly<Record<string, Float32Array>> = {
  'white noise': noise(white(), 0.1),
  'faint white noise': noise(white(), 0.005),
  'pink-like noise': noise(dark(0.9), 0.3),
  'brown-like noise': noise(dark(0.99), 0.9),
  'a low tone': sound((at) => 0.3 * sine(110, at)),
  'a tone': sound((at) => 0.3 * sine(440, at)),
  'a high tone': sound((at) => 0.3 * sine(3150, at)),
  'a dial tone of America': sound((at) => 0.2 * (sine(350, at) + sine(440, at))),
  'a dial tone of Europe': sound((at) => 0.3 * sine(425, at)),
  'a dial tone of Britain': sound((at) => 0.2 * (sine(350, at) + sine(450, at))),
  'a ringing tone': sound((at) => (at % 5 < 1 ? 0.3 * sine(425, at) : 0)),
  'an engaged tone': sound((at) => (at % 1 < 0.5 ? 0.3 * sine(425, at) : 0)),
  'mains hum': sound((at) => [1, 2, 3, 5, 7].reduce((sum, k) => sum + (0.1 / k) * sine(50 * k, at), 0)),
  'a sweep': sound((at) => 0.3 * sine(100 + 300 * at, at)),
};

for (const [what, samples] of Object.entries(steady)) {
  test(`${what} is insufficient speech`, async (t) => {
    const { status, emotion, cognitive } = await analyze(samples);
    t.is(status, 'insufficient_speech');
    t.deepEqual([emotion.signals, cognitive.signals], [{}, {}]);
    t.deepEqual(emotion.warnings, what.startsWith('faint') ? [] : ['music_or_noise']);
  });
}

for (const [what, samples] of [
  ['30 s of silence', new Float32Array(30 * rate)],
  ['a tenth of a second of silence', new Float32Array(rate / 10)],
] as const) {
  test(`${what} is insufficient speech without a warning`, async (t) => {
    const { status, emotion } = await analyze(samples);
    t.is(status, 'insufficient_speech');
    t.deepEqual(emotion.warnings, []);
  });
}

/** A plucked or bowed note: decaying harmonics. */
const note = (hertz: number, at: number, decay: number, bright: number) =>
  [1, 2, 3, 4, 5, 6].reduce((sum, k) => sum + k ** -bright * sine(hertz * k, at), 0) * Math.exp(-decay * at);

const scale = [220, 247, 277, 294, 330, 370, 415, 440];
const degree = (at: number, length: number) => scale[(Math.floor(at / length) * 5) % 8] as number;

const music: Readonly<Record<string, Float32Array>> = {
  chords: sound((at) => {
    const root = degree(at, 1) / 2;
    return 0.08 * [1, 1.26, 1.5].reduce((sum, step) => sum + note(root * step, at % 1, 2, 1.2), 0);
  }, 8),
  'a melody with vibrato': sound((at) => {
    const hertz = degree(at, 0.6);
    const phase = hertz * at + 1.2 * Math.sin(2 * Math.PI * 5.5 * at);
    return 0.1 * [1, 2, 3, 4].reduce((sum, k) => sum + Math.sin(2 * Math.PI * k * phase) / k, 0);
  }, 8),
  'an arpeggio': sound((at) => 0.15 * note(degree(at, 0.15), at % 0.15, 8, 1), 8),
  drums: (() => {
    const next = white(3);
    return sound((at) => {
      const kick = Math.sin(2 * Math.PI * 60 * (at % 0.5)) * Math.exp(-12 * (at % 0.5));
      const snare = next() * Math.exp(-18 * ((at + 0.25) % 0.5));
      return 0.4 * kick + 0.2 * snare;
    }, 8);
  })(),
};

for (const [what, samples] of Object.entries(music)) {
  test(`${what}: insufficient speech or a warning`, async (t) => {
    const { status, emotion, cognitive } = await analyze(samples);
    t.true(status === 'insufficient_speech' || emotion.warnings.includes('music_or_noise'));
    t.deepEqual(emotion.warnings.includes('music_or_noise'), cognitive.warnings.includes('music_or_noise'));
  });
}
