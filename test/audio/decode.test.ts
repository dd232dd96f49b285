import test from 'ava';
import { fixture } from '../../scripts/recordings.ts';
import { isAudioError } from '../../src/engine/platform.ts';
import { decode, measureQuality } from '../../src/node/addon.ts';
import { limits } from '../support/analysis.ts';

const options = { sampleRate: 16000, channel: null, limits, cancel: null };
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
