import test from 'ava';
import { measureHesitations, spectralChange } from '../../../src/engine/signals/measures.ts';

const params = {
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

const rateOf = (track: ReturnType<typeof speak>) =>
  measureHesitations(track, { segments: [{ start: 0, end: frames }], framesPerSecond: 100 }, params)
    .hesitation_rate;

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
  t.deepEqual(measureHesitations(speak(1), { segments: [], framesPerSecond: 100 }, params), {});
});

test('spectral change is the mean difference to the frame 30 ms before', (t) => {
  const data = Float32Array.from({ length: 10 * 4 }, (_, at) => Math.floor(at / 4) * 0.5 * (at % 2));
  const change = spectralChange({ data, bins: 4 });
  t.deepEqual([...change.slice(0, 4)], [Infinity, Infinity, Infinity, 0.75]);
});
