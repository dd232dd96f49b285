import test from 'ava';
import { soundsLikeAnother, speechCepstrum } from '../../../src/engine/signals/speaker.ts';

const rule = {
  minSpeechSeconds: 5,
  directions: [
    [1, 2, 0],
    [0, 0, 3],
  ],
  threshold: 40,
};
const speaker = (semitones: number | null, cepstrum: readonly number[], speechSeconds = 6) => ({
  measures: semitones === null ? {} : { pitch_level: { value: semitones, unit: 'semitones re 27.5 Hz' } },
  cepstrum,
  speechSeconds,
});

test('the cepstrum is the orthonormal cosine transform of the mean spectrum of the segments', (t) => {
  const bins = 8;
  // The second cosine of eight bins, once with each sign outside the segment, and a gain.
  const cosine = (bin: number) => Math.cos(((Math.PI * 2) / bins) * (bin + 0.5));
  const data = Float32Array.from({ length: 4 * bins }, (_, at) => {
    const frame = Math.floor(at / bins);
    return 5 + (frame === 1 || frame === 2 ? cosine(at % bins) : 100 * (at % bins));
  });
  const [first, second] = speechCepstrum({ data, bins }, [{ start: 1, end: 3 }]);
  t.true(Math.abs(first ?? 9) < 1e-6);
  t.true(Math.abs((second ?? 9) - Math.sqrt(bins / 2)) < 1e-6);
});

test('another speaker: above the threshold and with enough speech in both', (t) => {
  t.true(soundsLikeAnother(speaker(30, [1, 2]), speaker(32, [2, 4]), rule));
  t.false(soundsLikeAnother(speaker(30, [1, 2]), speaker(30, [2, 4]), rule));
  t.false(soundsLikeAnother(speaker(null, [1, 2]), speaker(32, [2, 9]), rule));
  t.false(soundsLikeAnother(speaker(30, [1, 2]), speaker(32, [2, 4], 4.9), rule));
  t.false(soundsLikeAnother(speaker(30, [1, 2], 4.9), speaker(32, [2, 4]), rule));
});
