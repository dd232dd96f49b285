import test from 'ava';
import type { ProsodyTrack } from '../../../src/engine/platform.ts';
import { measureProsody } from '../../../src/engine/signals/measures.ts';
import type { Segment } from '../../../src/engine/speech.ts';

const measure = (track: ProsodyTrack, segments: readonly Segment[], framesPerSecond: number) =>
  measureProsody(track, segments, framesPerSecond, { minVoicedSeconds: 1 });
const filled = (frames: number, value: (frame: number) => number) =>
  Float32Array.from({ length: frames }, (_, frame) => value(frame));
const whole = (frames: number) => [{ start: 0, end: frames }];

function trackOf(frames: number, hertz: (frame: number) => number) {
  return {
    pitchHz: filled(frames, hertz),
    levelDb: filled(frames, (frame) => -30 + (frame % 101) / 10),
    tiltDb: filled(frames, (frame) => (frame % 2 === 0 ? -6 : -10)),
  };
}

test('known tracks give known measures', (t) => {
  // 110 Hz is two octaves above 27.5 Hz; the track climbs an octave in equal steps.
  const track = trackOf(202, (frame) => 110 * 2 ** (frame / 201));
  const measures = measure(track, whole(202), 100);
  const near = (name: string, expected: number, unit: string) => {
    t.true(Math.abs((measures[name]?.value ?? Number.NaN) - expected) < 1e-3, `${name}`);
    t.is(measures[name]?.unit, unit);
  };
  near('pitch_level', 30, 'semitones re 27.5 Hz');
  near('pitch_range', 0.8 * 12, 'semitones');
  near('level_range', 8, 'dB');
  near('spectral_tilt', -8, 'dB/octave');
});

test('only voiced frames inside the segments count', (t) => {
  const inside = (frame: number) => frame >= 100 && frame < 300;
  const track = trackOf(400, (frame) => (inside(frame) ? (frame % 2 === 0 ? 220 : 0) : 440));
  const measures = measure(track, [{ start: 100, end: 300 }], 100);
  t.is(measures.pitch_level?.value, 36);
  t.is(measures.pitch_range?.value, 0);
  t.is(measures.spectral_tilt?.value, -6);
});

test('segments of another frame rate cover the same times', (t) => {
  const track = trackOf(400, (frame) => (frame < 200 ? 110 : 220));
  t.deepEqual(
    measure(track, [{ start: 100, end: 200 }], 50),
    measure(track, [{ start: 200, end: 400 }], 100),
  );
});

test('under a second of voiced speech measures are undefined', (t) => {
  t.deepEqual(
    measure(
      trackOf(99, () => 110),
      whole(99),
      100,
    ),
    {},
  );
  t.is(
    Object.keys(
      measure(
        trackOf(100, () => 110),
        whole(100),
        100,
      ),
    ).length,
    4,
  );
  t.deepEqual(
    measure(
      trackOf(0, () => 110),
      whole(500),
      100,
    ),
    {},
  );
});
