import test from 'ava';
import { joinSpeakers, type Speaker } from '../../../src/engine/signals/speaker.ts';

const speaker = (
  speechSeconds: number,
  values: Readonly<Record<string, number>>,
  first: number,
): Speaker => ({
  measures: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, unit: 's' }])),
  speechSeconds,
  cepstrum: [first, 0],
});

test('means are weighted by speech, over the recordings that have the measure', (t) => {
  const joined = joinSpeakers([
    speaker(10, { mean_run: 1, pitch_level: 20 }, 1),
    speaker(30, { mean_run: 3 }, 5),
  ]);
  t.deepEqual(joined, {
    measures: { mean_run: { value: 2.5, unit: 's' }, pitch_level: { value: 20, unit: 's' } },
    speechSeconds: 40,
    cepstrum: [4, 0],
  });
});

test('one recording stays as it is, none is null', (t) => {
  const one = speaker(10, { mean_run: 1 }, 1);
  t.is(joinSpeakers([one]), one);
  t.is(joinSpeakers([]), null);
});
