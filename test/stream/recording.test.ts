/** The samples of a session. */
import test from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import { createRecording } from '../../src/stream/recording.ts';

const format = { encoding: 's16le', sample_rate_hz: 16_000, channels: 2 } as const;
/** More than two blocks of 256 KiB. */
const wav = wavFile(
  Float32Array.from({ length: 300_000 }, (_, index) => Math.sin(index)),
  16_000,
  2,
);
const samples = wav.subarray(44);

function recordingOf(pieces: readonly number[]) {
  const recording = createRecording(format);
  let from = 0;
  for (const length of pieces) {
    recording.append(samples.subarray(from, from + length));
    from += length;
  }
  return recording;
}

test('an incomplete sample does not count', (t) => {
  const recording = recordingOf([3, 3, 1]);
  t.is(recording.frames(), 1);
  t.deepEqual(Buffer.concat(recording.takeWav()).subarray(44), samples.subarray(0, 4));
});

test('the file of a part equals that of its samples, across blocks', (t) => {
  const recording = recordingOf([1, 262_142, 2, samples.length - 262_145]);
  const part = Buffer.from(recording.wav(65_000, 140_000));
  const whole = wavFile(new Float32Array(150_000), 16_000, 2);
  t.deepEqual(part.subarray(44), samples.subarray(4 * 65_000, 4 * 140_000));
  t.deepEqual(part.subarray(0, 44), whole.subarray(0, 44));
});

test('the whole file is taken once', (t) => {
  const recording = recordingOf([samples.length]);
  t.deepEqual(Buffer.concat(recording.takeWav()), wav);
  t.is(recording.frames(), 0);
});
