import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { fixture } from '../../scripts/recordings.ts';
import { joinArrays } from '../../src/engine/arrays.ts';
import { type FeatureSpec, isAudioError } from '../../src/engine/platform.ts';
import { type Measures, measureProsody } from '../../src/engine/signals/measures.ts';
import { decode, extract, filterStream, measureQuality, trackProsody } from '../../src/node/addon.ts';
import { type SpecName, specs } from '../../src/node/feature-specs.ts';
import { builtAddon } from '../../src/node/paths.ts';
import { createRandom } from '../../src/tools/evaluate/statistics.ts';
import { limits, samplesOf } from '../support/analysis.ts';
import { outputOf } from '../support/cli.ts';

const spec = specs['whisper-log-mel-80'] as FeatureSpec;

const options = { sampleRate: 16000, channel: null, track: null, limits, cancel: null };

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
const none = new Float64Array(0);
const filter = (samples: Float32Array, state: Float64Array, change: object = {}) =>
  filterStream(samples, state, { sampleRate: 16_000, hopLength: 160, ...change });
/** The state of a stream in which the number of samples was changed. */
function changedState(count: number): Float64Array {
  const { state } = filter(noise(4), none);
  state[0] = count;
  return state;
}
const withOptions = (change: object) => () => decode(wav, { ...options, ...change });

const badArguments: readonly (readonly [reason: string, call: () => unknown])[] = [
  ['an integer for `hopLength`, got undefined', () => extract(noise(400), incomplete as FeatureSpec)],
  ['an object for `spec`, got undefined', () => extract(noise(400), undefined as never)],
  ['an object for `spec`, got an array', () => extract(noise(400), [spec] as never)],
  ['an integer for `hopLength`, got 1.5', withSpec({ hopLength: 1.5 })],
  ['a number from 1 to 32768 for `hopLength`, got 0', withSpec({ hopLength: 0 })],
  ['an integer for `nMels`, got "80"', withSpec({ nMels: '80' })],
  ['a finite number for `lowHz`, got NaN', withSpec({ lowHz: Number.NaN })],
  ['a number from 10 to 200 for `highpassHz`, got 5', withSpec({ highpassHz: 5 })],
  ['a finite number for `highpassHz`, got null', withSpec({ highpassHz: null })],
  ['a boolean for `dropLast`, got 1', withSpec({ dropLast: 1 })],
  ['"hann" or "hamming" or "povey" for `window`, got "hanning"', withSpec({ window: 'hanning' })],
  ['a finite number or null for `topDb`, got undefined', withSpec({ topDb: undefined })],
  ['a Float32Array for `samples`, got an array', () => extract([0] as never, spec)],
  [
    'a Float32Array for `samples`, got a typed array of another type or length',
    () => extract(new Float64Array(4) as never, spec),
  ],
  ['a number from 1 to 32768 for `hopLength`, got 0', () => filter(noise(4), none, { hopLength: 0 })],
  ['a number from 1000 to 384000 for `sampleRate`, got 0', () => filter(noise(4), none, { sampleRate: 0 })],
  ['a number from 10 to 200 for `highpassHz`, got 300', () => filter(noise(4), none, { highpassHz: 300 })],
  ...[new Float64Array(3), changedState(-1), changedState(0.5), changedState(Number.NaN)].map(
    (state) =>
      [
        'an empty Float64Array or the state that filterStream returned for `state`, got a typed array of another type or length',
        () => filter(noise(4), state),
      ] as const,
  ),
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

test('a handle of another kind is refused', (t) => {
  const addon = createRequire(import.meta.url)(builtAddon);
  const decoder = addon.openIncrementalDecoder(wav, options, 100);
  const extractor = addon.createExtractor(spec);
  const samples = noise(400);
  const reasonOf = (call: () => unknown) => refusal(call).reason;
  for (const other of [decoder, {}, null, samples])
    t.regex(
      reasonOf(() => addon.extract(samples, other)),
      /^Expected an extractor .* for `extractor`, got /,
    );
  for (const other of [extractor, {}, null, samples]) {
    for (const call of [addon.decodeNext, addon.closeIncrementalDecoder])
      t.regex(
        reasonOf(() => call(other)),
        /^Expected a decoder .* for `decoder`, got /,
      );
  }
  t.is(addon.extract(samples, extractor).frames, 2);
  t.is(addon.decodeNext(decoder).samples.length, 100);
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

const original = decode(fixture('speech.wav'), options);

test('a view into a larger buffer is decoded', (t) => {
  const bytes = fixture('speech.flac');
  const shifted = new Uint8Array(bytes.length + 7);
  shifted.set(bytes, 7);
  t.deepEqual(decode(shifted.subarray(7), options).samples, original.samples);
});

test('shared memory cancels', (t) => {
  const cancel = new Int32Array(new SharedArrayBuffer(4));
  t.is(decode(fixture('cbr.mp3'), { ...options, cancel }).seconds, original.seconds);
  Atomics.store(cancel, 0, 1);
  const error = t.throws(() => decode(fixture('cbr.mp3'), { ...options, cancel }));
  t.true(isAudioError(error) && error.code === 'cancelled');
});

test('a narrow-band file has a narrow bandwidth', (t) => {
  const all = (seconds: number) => new Float64Array([0, seconds]);
  const wide = measureQuality(original.samples, 16000, all(original.seconds));
  const narrow = decode(fixture('mono-8k.wav'), options);
  t.true(wide.bandwidthHz > 6000, `${wide.bandwidthHz}`);
  t.true(measureQuality(narrow.samples, 16000, all(narrow.seconds)).bandwidthHz < 4200);
  t.true((wide.snrDb ?? 0) > 5, `${wide.snrDb}`);
});

/** The signal of test/native/oracles/make.py, which computed the arrays with Kaldi and librosa. */
function oracleSignal(): Float32Array {
  let state = 1;
  return Float32Array.from({ length: 4800 }, (_, index) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const noise = (state >>> 8) / 2 ** 24 - 0.5;
    const square = Math.floor(index / 40) % 2 === 1 ? 0.1 : -0.1;
    return (0.5 * noise * ((index % 1600) + 1)) / 1600 + square + 0.02;
  });
}

const cases: readonly [spec: SpecName, oracle: string, change: Partial<FeatureSpec>][] = [
  ['whisper-input-80', 'whisper', {}],
  ['kaldi-log-mel-80', 'kaldi_fbank', {}],
  // The array was made with snip_edges=false.
  ['kaldi-mfcc-13', 'kaldi_mfcc', { padding: 'snip-edges-false' }],
];

for (const [name, oracle, change] of cases) {
  test(`${name} matches the library that it names`, (t) => {
    const { data } = extract(oracleSignal(), { ...specs[name], ...change });
    const bytes = readFileSync(`test/native/oracles/${oracle}.f32`);
    const expected = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    t.is(data.length, expected.length);
    const worst = Math.max(...data.map((value, index) => Math.abs(value - (expected[index] as number))));
    t.true(worst < 2e-3, `${worst}`);
  });
}

test('every preset is a valid spec', (t) => {
  for (const [name, spec] of Object.entries(specs)) {
    const { bins, frames } = extract(new Float32Array(16_000), spec);
    t.true(name.endsWith(`-${bins}`));
    t.true(frames >= 98 && frames <= 101);
  }
});

// Measures of prosody are the same for every codec and container.

async function measuresOf(name: string): Promise<Measures> {
  const { samples, seconds } = decode(fixture(name), options);
  const whole = { start: 0, end: Math.floor(seconds * 100) };
  const values = await trackProsody(samples, 16_000);
  return measureProsody([{ values, segments: [whole] }], 100, { minVoicedSeconds: 1 });
}

const tolerances = { pitch_level: 0.05, pitch_range: 0.05, level_range: 0.2, spectral_tilt: 0.2 };
const measuresOfWav = measuresOf('mono-16k.wav');

for (const name of ['cbr.mp3', 'aac.m4a', 'opus.webm', 'vorbis.ogg', 'mono-8k.wav', 'mulaw.wav']) {
  test(`${name} has the prosody of the WAV`, async (t) => {
    const [measures, expected] = await Promise.all([measuresOf(name), measuresOfWav]);
    for (const [measure, tolerance] of Object.entries(tolerances)) {
      const apart = Math.abs((measures[measure]?.value ?? 99) - (expected[measure]?.value ?? -99));
      t.true(apart < tolerance, `${measure}: ${apart}`);
    }
  });
}

for (const amplitude of [1e-19, 1e-20, 1e-21, 1e-22, 1e-23]) {
  test(`samples of ${amplitude} between two voiced parts silence neither of them`, async (t) => {
    const voiced = samplesOf('mono-16k.wav').subarray(0, 48_000);
    const random = createRandom(1);
    const quiet = new Float32Array(16_000).map(() => amplitude * (2 * random() - 1));
    const { pitchHz } = await trackProsody(joinArrays([voiced, quiet, voiced]), 16_000);
    const count = (from: number, to: number) =>
      pitchHz.subarray(from, to).filter((hertz) => hertz > 0).length;
    const [before, after] = [count(0, 290), count(400, 690)];
    t.true(before > 50 && Math.abs(after - before) <= 5, `${before} voiced frames before, ${after} after`);
  });
}

const terminated = `
  const { Worker } = require('node:worker_threads');
  const source = \`
    const { parentPort, workerData } = require('node:worker_threads');
    require(workerData).trackProsody(new Float32Array(16_000 * 60).fill(0.1), 16_000);
    parentPort.postMessage('tracking');
  \`;
  const thread = new Worker(source, { eval: true, workerData: ${JSON.stringify(builtAddon)} });
  thread.once('message', () => thread.terminate());
`;

test('a thread that is terminated while it tracks does not end the process', async (t) => {
  const child = spawn(process.execPath, ['-e', terminated]);
  const { stderr } = outputOf(child);
  t.deepEqual(await once(child, 'close'), [0, null], stderr());
});
