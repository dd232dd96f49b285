import test from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import { type FeatureSpec, isAudioError } from '../../src/engine/platform.ts';
import { decode, extract, measureQuality, trackProsody } from '../../src/node/addon.ts';
import { specs } from '../../src/node/features.ts';
import { limits } from '../support/analysis.ts';

const spec = specs['whisper-log-mel-80'] as FeatureSpec;

const options = { sampleRate: 16000, channel: null, limits, cancel: null };

/** Seeded noise in [-0.25, 0.25]. */
function noise(count: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32 - 0.5) / 2;
  });
}

/** Code and reason of the error of `call`, whose arguments may have any type. */
function refusal(call: () => unknown): { code: string; reason: string } {
  try {
    call();
  } catch (error) {
    if (isAudioError(error)) return { code: error.code, reason: error.reason };
    throw error;
  }
  throw new Error('accepted');
}

test('features are frames x bins in an ordinary array buffer', (t) => {
  const features = extract(noise(16000), spec);
  t.is(features.frames, 100);
  t.is(features.bins, 80);
  t.is(features.data.length, 8000);
  t.true(features.data.buffer instanceof ArrayBuffer);
  t.true(features.data.every(Number.isFinite));
  t.is(structuredClone(features.data, { transfer: [features.data.buffer] }).length, 8000);
  t.is(features.data.length, 0);
});

test('the same call returns the same bits after calls with other specs', (t) => {
  const samples = noise(8000);
  const first = extract(samples, spec);
  for (let hopLength = 100; hopLength < 112; hopLength += 1) extract(samples, { ...spec, hopLength });
  t.deepEqual(extract(samples, { ...spec }), first);
});

test('a getter of the spec that transfers the samples: error instead of a read of detached memory', (t) => {
  const samples = noise(16_000);
  const transferring = {
    ...spec,
    get hopLength() {
      structuredClone(samples, { transfer: [samples.buffer] });
      return spec.hopLength;
    },
  };
  t.is(extract(samples, transferring).frames, 0);
});

const { hopLength: _, ...incomplete } = spec;
const wav = wavFile(noise(160), 16000);
const withSpec = (change: object) => () => extract(noise(400), { ...spec, ...change });
const withOptions = (change: object) => () => decode(wav, { ...options, ...change });

const badArguments: readonly (readonly [reason: string, call: () => unknown])[] = [
  ['an integer for `hopLength`, got undefined', () => extract(noise(400), incomplete as FeatureSpec)],
  ['an object for `spec`, got undefined', () => extract(noise(400), undefined as never)],
  ['an object for `spec`, got an array', () => extract(noise(400), [spec] as never)],
  ['an integer for `hopLength`, got 1.5', withSpec({ hopLength: 1.5 })],
  ['a number from 1 to 32768 for `hopLength`, got 0', withSpec({ hopLength: 0 })],
  ['an integer for `nMels`, got "80"', withSpec({ nMels: '80' })],
  ['a finite number for `lowHz`, got NaN', withSpec({ lowHz: Number.NaN })],
  ['a boolean for `dropLast`, got 1', withSpec({ dropLast: 1 })],
  ['"hann" or "hamming" or "povey" for `window`, got "hanning"', withSpec({ window: 'hanning' })],
  ['a finite number or null for `topDb`, got undefined', withSpec({ topDb: undefined })],
  ['a Float32Array for `samples`, got an array', () => extract([0] as never, spec)],
  [
    'a Float32Array for `samples`, got a typed array of another type or length',
    () => extract(new Float64Array(4) as never, spec),
  ],
  ['a Uint8Array for `bytes`, got "RIFF"', () => decode('RIFF' as never, options)],
  [
    'a Float64Array of start and end pairs for `segments`, got a typed array of another type or length',
    () => measureQuality(noise(4), 16000, new Float64Array(3)),
  ],
  [
    'at most 536870912 feature values for `samples`, got 1048576 frames of 1024',
    () => extract(new Float32Array(1 << 20), { ...spec, hopLength: 1, nMels: 1024 }),
  ],
  ['a channel number from 0 or null for `channel`, got -1', withOptions({ channel: -1 })],
  ['an object for `limits`, got null', withOptions({ limits: null })],
  [
    'a finite number for `limits.seconds`, got "9"',
    withOptions({ limits: { ...options.limits, seconds: '9' } }),
  ],
  [
    'an Int32Array of at least one element or null for `cancel`, got a typed array of another type or length',
    withOptions({ cancel: new Int32Array(0) }),
  ],
  ['at least 1000 for `sampleRate`, got 0', () => measureQuality(noise(4), 0, Float64Array.of(0, 1))],
  ['16000 for `sampleRate`, got 8000', () => trackProsody(noise(4), 8000)],
  [
    'a Float32Array for `samples`, got a typed array of another type or length',
    () => trackProsody(new Float64Array(4) as never, 16_000),
  ],
];

test('arguments of the wrong type or range are refused by name', (t) => {
  for (const [reason, call] of badArguments)
    t.deepEqual(refusal(call), { code: 'bad_argument', reason: `Expected ${reason}` });
  t.is(refusal(withSpec({ fmin: 20 })).reason, 'Unknown key "fmin" in `spec`');
  t.is(refusal(withOptions({ gain: 2 })).reason, 'Unknown key "gain" in `options`');
});

test('a WAV file decodes to its samples and source', (t) => {
  const samples = noise(16000);
  const audio = decode(wavFile(samples, 16000), options);
  t.is(audio.sampleRate, 16000);
  t.is(audio.seconds, 1);
  t.is(audio.samples.length, 16000);
  t.true(audio.samples.every((sample, i) => Math.abs(sample - (samples[i] ?? 0)) < 1e-4));
  t.is(audio.source.container, 'wav');
  t.is(audio.source.sampleRate, 16000);
  t.is(audio.source.channels, 1);
  t.is(audio.source.channelCorrelation, 1);
  t.false(audio.source.truncated);
});

test('bytes other than audio are refused with a reason', (t) => {
  t.is(refusal(() => decode(new Uint8Array(0), options)).code, 'empty');
  t.is(refusal(() => decode(Buffer.from('%PDF-1.7 not audio'), options)).code, 'unsupported');
  t.is(refusal(withOptions({ channel: 1 })).code, 'channel');
});

test('quality has a level, and a null signal-to-noise ratio without speech', (t) => {
  const samples = Float32Array.from(
    { length: 16000 },
    (_, i) => 0.5 * Math.sin((2 * Math.PI * 1000 * i) / 16000),
  );
  const quality = measureQuality(samples, 16000, Float64Array.of(0, 1));
  t.true(Math.abs(quality.levelDbfs + 9.03) < 0.1);
  t.is(quality.snrDb, 0);
  t.is(measureQuality(samples, 16000, new Float64Array(0)).snrDb, null);
  t.true(Number.isFinite(quality.bandwidthHz));
});

test('pitch, level and tilt have one value per 10 ms, in ordinary array buffers', async (t) => {
  const samples = Float32Array.from(
    { length: 16_000 },
    (_, i) => 0.5 * Math.sin((2 * Math.PI * 200 * i) / 16_000),
  );
  const { pitchHz, levelDb, tiltDb } = await trackProsody(samples, 16_000);
  t.deepEqual(
    [pitchHz, levelDb, tiltDb].map(({ length, buffer }) => [length, buffer instanceof ArrayBuffer]),
    [
      [100, true],
      [100, true],
      [100, true],
    ],
  );
  t.true(Math.abs((pitchHz[50] ?? 0) - 200) < 0.5);
  t.true(Math.abs((levelDb[50] ?? 0) + 9.03) < 0.05);
  t.true(tiltDb.every(Number.isFinite));
});
