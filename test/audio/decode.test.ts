import test from 'ava';
import { fixture } from '../../scripts/recordings.ts';
import { decode, extract, type FeatureSpec, isAudioError, measureQuality } from '../../src/audio/addon.ts';
import { specs } from '../../src/audio/feature-presets.ts';

const options = {
  sampleRate: 16000,
  channel: null,
  limits: { seconds: 900, channels: 8, minSampleRate: 4000, maxSampleRate: 384000, deadlineSeconds: 600 },
  cancel: null,
};

const mel = specs['whisper-log-mel-80'] as FeatureSpec;

/** Maximum mean distance in dB from the original's log-mel, where that is within 40 dB of its maximum. */
const distances: Record<string, number> = {
  // lossless, or 8 bits
  's24.wav': 0.02,
  's32.wav': 0.02,
  'f32.wav': 0.02,
  'f64.wav': 0.02,
  'rf64.wav': 0.02,
  'streamed.wav': 0.02,
  'speech.flac': 0.02,
  'flac.ogg': 0.02,
  'flac.mkv': 0.02,
  'flac.mp4': 0.02,
  'alac.m4a': 0.02,
  'alac.caf': 0.02,
  'pcm.caf': 0.02,
  'pcm.mov': 0.02,
  'speech.aiff': 0.02,
  'mono-16k.wav': 1.5,
  'alaw.wav': 1.5,
  'mulaw.wav': 1.5,
  'speech.aifc': 1.5,
  'u8.wav': 4,
  'adpcm-ms.wav': 3,
  'adpcm-ima.wav': 3,
  // lossy, aligned by the container
  'cbr.mp3': 1.5,
  'vbr.mp3': 1.5,
  'cover.mp3': 1.5,
  'mpeg2.mp3': 1.5,
  'aac.m4a': 1.5,
  'fast-start.m4a': 1.5,
  'aac.mov': 1.5,
  'video.mp4': 1.5,
  'vorbis.ogg': 1.5,
  'vorbis.webm': 1.5,
  'opus.ogg': 3,
  'opus.webm': 3,
  'opus.mp4': 3,
};

const logMel = (samples: Float32Array) => extract(samples, mel).data;
const original = decode(fixture('speech.wav'), options);
const originalMel = logMel(original.samples);

function distance(samples: Float32Array): number {
  const data = logMel(samples);
  const loud = originalMel.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY) - 4;
  let sum = 0;
  let count = 0;
  for (let i = 0; i < Math.min(data.length, originalMel.length); i += 1) {
    const expected = originalMel[i] ?? 0;
    if (expected < loud) continue;
    sum += Math.abs((data[i] ?? 0) - expected);
    count += 1;
  }
  return (10 * sum) / count;
}

for (const [name, most] of Object.entries(distances)) {
  test(`${name} has the log-mel of the original`, (t) => {
    const audio = decode(fixture(name), options);
    t.true(Math.abs(audio.seconds / original.seconds - 1) < 0.01);
    t.is(audio.seconds, audio.samples.length / 16000);
    t.false(audio.source.truncated);
    const measured = distance(audio.samples);
    t.true(measured < most, `${measured} dB`);
  });
}

test('a view into a larger buffer is decoded', (t) => {
  const bytes = fixture('speech.flac');
  const shifted = new Uint8Array(bytes.length + 7);
  shifted.set(bytes, 7);
  t.deepEqual(decode(shifted.subarray(7), options).samples, original.samples);
});

test('malformed files are errors with a code and a reason', (t) => {
  const error = t.throws(() => decode(new TextEncoder().encode('Hello, world\n'), options));
  t.true(isAudioError(error) && error.code === 'unsupported');
  t.is(error?.message, 'Expected an audio file, got text');
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
