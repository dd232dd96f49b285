/** The samples of a session. */
import test from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import { createRecording } from '../../src/service/live/tasks.ts';

const format = { encoding: 's16le', channels: 2 } as const;
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
  t.deepEqual(Buffer.concat(recording.take()), samples.subarray(0, 4));
});

test('a part has the bytes of its frames, across blocks', (t) => {
  const recording = recordingOf([1, 262_142, 2, samples.length - 262_145]);
  const part = Buffer.from(recording.slice(65_000, 140_000));
  t.deepEqual(part, samples.subarray(4 * 65_000, 4 * 140_000));
});

test('all samples are taken once', (t) => {
  const recording = recordingOf([samples.length]);
  t.deepEqual(Buffer.concat(recording.take()), samples);
  t.is(recording.frames(), 0);
});
