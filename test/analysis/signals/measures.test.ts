/** Measures of speech: prosody, pauses, hesitations. */
import test from 'ava';
import type { ProsodyTrack } from '../../../src/engine/platform.ts';
import type { Segment } from '../../../src/engine/segments.ts';
import {
  addSyllables,
  measureHesitations,
  measureProsody,
  measureTiming,
  noSyllables,
  spectralChange,
} from '../../../src/engine/signals/measures.ts';

const framesPerSecond = 100;
const params = { longPauseSeconds: 1, minTurnSeconds: 0.2, rateWindowSeconds: 1, minRateWindows: 3 };
const measure = (
  segments: readonly Segment[],
  syllableRate: Float32Array,
  others: readonly Segment[] | undefined = undefined,
) =>
  measureTiming(
    {
      segments,
      others,
      totals: addSyllables(noSyllables, segments, syllableRate, framesPerSecond, params),
      framesPerSecond,
    },
    params,
  );
const steady = (rate: number, frames: number) => new Float32Array(frames).fill(rate);

test('known timing gives known measures', (t) => {
  const segments = [
    { start: 100, end: 400 },
    { start: 450, end: 650 },
    { start: 800, end: 1100 },
  ];
  const measures = measure(segments, steady(4, 1200));
  const near = (name: string, expected: number) => {
    t.true(
      Math.abs((measures[name]?.value ?? Number.NaN) - expected) < 1e-9,
      `${name}: ${measures[name]?.value}`,
    );
  };
  near('pause_ratio', 2 / 10);
  near('pause_rate', 12);
  near('mean_pause', 1);
  near('long_pause_rate', 6);
  near('mean_run', 8 / 3);
  near('mean_run_syllables', 32 / 3);
  near('articulation_rate', 4);
  near('speech_rate', 3.2);
  near('rate_variability', 0);
});

test('a gap in which another speaker takes the turn is no pause', (t) => {
  const segments = [
    { start: 0, end: 300 },
    { start: 700, end: 1000 },
    { start: 1100, end: 1400 },
    { start: 1500, end: 1800 },
  ];
  const alone = measure(segments, steady(4, 1800));
  t.is(alone.pause_ratio?.value, 600 / 1800);
  // A turn of 2 s, and a sound of 0.1 s, which takes none.
  const others = [
    { start: 350, end: 550 },
    { start: 1440, end: 1450 },
  ];
  const found = measure(segments, steady(4, 1800), others);
  t.is(found.pause_ratio?.value, 200 / 1400);
  t.is(found.mean_pause?.value, 1);
  t.is(found.mean_run?.value, alone.mean_run?.value);
  t.is(found.articulation_rate?.value, alone.articulation_rate?.value);
  t.true(Math.abs((found.speech_rate?.value ?? 0) - (4 * 12) / 14) < 1e-9);
});

test('silence at either end has no effect', (t) => {
  const inner = measure(
    [
      { start: 0, end: 300 },
      { start: 350, end: 600 },
    ],
    steady(3, 600),
  );
  const padded = measure(
    [
      { start: 1000, end: 1300 },
      { start: 1350, end: 1600 },
    ],
    steady(3, 4000),
  );
  t.deepEqual(padded, inner);
});

test('undefined measures are absent', (t) => {
  const measures = measure([{ start: 0, end: 100 }], steady(4, 100));
  t.false('mean_pause' in measures);
  t.false('rate_variability' in measures);
  t.deepEqual(measure([], steady(0, 0)), {});
});

test('an uneven rate has its coefficient of variation', (t) => {
  const syllableRate = Float32Array.from([...steady(2, 200), ...steady(6, 200)]);
  const measures = measure([{ start: 0, end: 400 }], syllableRate);
  t.is(measures.rate_variability?.value, 0.5);
});

test('syllables that are added part by part are those of the whole', (t) => {
  const syllableRate = Float32Array.from({ length: 900 }, (_, frame) => frame % 7);
  const segments = [
    { start: 20, end: 330 },
    { start: 400, end: 900 },
  ];
  const add = (totals: typeof noSyllables, parts: readonly Segment[]) =>
    addSyllables(totals, parts, syllableRate, framesPerSecond, params);
  const parts = [
    [{ start: 20, end: 250 }],
    [
      { start: 250, end: 330 },
      { start: 400, end: 450 },
    ],
    [{ start: 450, end: 900 }],
  ];
  const whole = add(noSyllables, segments);
  t.deepEqual(parts.reduce(add, noSyllables), whole);
  t.is(whole.rates.length, 8);
  t.is(whole.frames, 10);
});

const prosodyMeasure = (values: ProsodyTrack, segments: readonly Segment[], framesPerSecond: number) =>
  measureProsody([{ values, segments }], framesPerSecond, { minVoicedSeconds: 1 });
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
  const measures = prosodyMeasure(track, whole(202), 100);
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
  const measures = prosodyMeasure(track, [{ start: 100, end: 300 }], 100);
  t.is(measures.pitch_level?.value, 36);
  t.is(measures.pitch_range?.value, 0);
  t.is(measures.spectral_tilt?.value, -6);
});

test('segments of another frame rate cover the same times', (t) => {
  const track = trackOf(400, (frame) => (frame < 200 ? 110 : 220));
  t.deepEqual(
    prosodyMeasure(track, [{ start: 100, end: 200 }], 50),
    prosodyMeasure(track, [{ start: 200, end: 400 }], 100),
  );
});

test('under a second of voiced speech measures are undefined', (t) => {
  t.deepEqual(
    prosodyMeasure(
      trackOf(99, () => 110),
      whole(99),
      100,
    ),
    {},
  );
  t.is(
    Object.keys(
      prosodyMeasure(
        trackOf(100, () => 110),
        whole(100),
        100,
      ),
    ).length,
    4,
  );
  t.deepEqual(
    prosodyMeasure(
      trackOf(0, () => 110),
      whole(500),
      100,
    ),
    {},
  );
});

const hesitationParams = {
  minTurnSeconds: 0.2,
  minSeconds: 0.25,
  maxSpectralChange: 0.35,
  maxPitchChange: 1,
  maxSyllableRate: 5,
};
const frames = 6000;

/** A minute of speech that changes all the time, but for steady stretches of `seconds` at 10, 20 and 30 s. */
function speak(seconds: number, change: Partial<Record<'pitchHz' | 'change' | 'syllableRate', number>> = {}) {
  const isSteady = (frame: number) =>
    [1000, 2000, 3000].some((at) => frame >= at && frame < at + seconds * 100);
  const fill = (steady: number, moving: (frame: number) => number) =>
    Float32Array.from({ length: frames }, (_, frame) => (isSteady(frame) ? steady : moving(frame)));
  return {
    pitchHz: fill(change.pitchHz ?? 120, (frame) => 100 + 5 * (frame % 10)),
    change: fill(change.change ?? 0.1, () => 0.6),
    syllableRate: fill(change.syllableRate ?? 2, () => 5.5),
  };
}

const rateOf = (values: ReturnType<typeof speak>) => {
  const segments = [{ start: 0, end: frames }];
  return measureHesitations([{ values, segments }], { segments, framesPerSecond: 100 }, hesitationParams)
    .hesitation_rate;
};

test('steady voiced stretches of at least a quarter of a second are hesitations', (t) => {
  t.deepEqual(rateOf(speak(0.4)), { value: 3, unit: '1/min', validated: false });
  t.is(rateOf(speak(0.25))?.value, 0, 'the pitch of the first 30 ms is compared with the frames before');
  t.is(rateOf(speak(0.28))?.value, 3);
});

test('without voice, with a moving spectrum or at a normal rate of syllables there are none', (t) => {
  for (const moved of [{ pitchHz: 0 }, { change: 0.4 }, { syllableRate: 6 }])
    t.is(rateOf(speak(0.4, moved))?.value, 0);
});

test('without speech the measure is undefined', (t) => {
  t.deepEqual(measureHesitations([], { segments: [], framesPerSecond: 100 }, hesitationParams), {});
});

test('spectral change is the mean difference to the frame 30 ms before', (t) => {
  const data = Float32Array.from({ length: 10 * 4 }, (_, at) => Math.floor(at / 4) * 0.5 * (at % 2));
  const change = spectralChange({ data, bins: 4 });
  t.deepEqual([...change.slice(0, 4)], [Infinity, Infinity, Infinity, 0.75]);
});
