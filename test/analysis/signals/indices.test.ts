import test from 'ava';
import fc from 'fast-check';
import type { ManifestOf } from '../../../src/engine/manifest.ts';
import { computeIndex, ownShare } from '../../../src/engine/signals/indices.ts';
import { readManifests } from '../../../src/node/models.ts';
import { indexParams as params, indexWeights as weights } from '../../support/indices.ts';

const recordingOf = (pauseRatio: number, meanRun: number, speechSeconds = 20) => ({
  measures: {
    pause_ratio: { value: pauseRatio, unit: 'ratio' },
    mean_run: { value: meanRun, unit: 's' },
  },
  speechSeconds,
});
const scoreOf = (...values: Parameters<typeof recordingOf>) =>
  computeIndex(recordingOf(...values), weights, params, null).score;

test('a speaker at the reference scores 0.5 at any duration', (t) => {
  t.is(scoreOf(0.2, 2), 0.5);
  t.is(scoreOf(0.2, 2, 0.6), 0.5);
});

test('the score follows the closed form', (t) => {
  const { score, contributions } = computeIndex(recordingOf(0.4, 2), weights, params, null);
  const odds = (0.25 + 0.4 / 0.6) / 2; // 20 s of the recording and 20 s at the reference
  const position = 1 / (1 + (0.25 / odds) ** (1 / 0.6));
  t.true(Math.abs(score - (0.5 + 0.75 * (position - 0.5))) < 1e-12);
  t.deepEqual(
    contributions.map(({ measure, source }) => [measure, source]),
    [
      ['pause_ratio', 'a study'],
      ['mean_run', 'another'],
    ],
  );
});

test('more pausing and shorter runs raise the score everywhere, within (0, 1)', (t) => {
  const ratio = fc.double({ min: 0, max: 0.98, noNaN: true });
  const run = fc.double({ min: 0.1, max: 60, noNaN: true });
  const seconds = fc.double({ min: 0.5, max: 900, noNaN: true });
  fc.assert(
    fc.property(ratio, run, seconds, (r, s, speech) => {
      const score = scoreOf(r, s, speech);
      const paused = scoreOf(r + 0.01, s, speech);
      const shorter = scoreOf(r, s * 0.95, speech);
      return score > 0 && paused < 1 && paused > score && shorter > score;
    }),
  );
  t.pass();
});

test('one pause of the minimum length moves no shipped index by 0.035', async (t) => {
  const manifests = await readManifests('models/standard');
  const shipped = manifests.find(({ kind }) => kind === 'cognitive') as ManifestOf<'cognitive'>;
  for (const index of [shipped.params.cognitiveLoad, shipped.params.processing]) {
    for (const speech of [0.6, 1, 3, 5, 10, 20, 60]) {
      for (const runs of [1, 2, 4]) {
        const at = (pauses: number) =>
          computeIndex(
            recordingOf((0.25 * pauses) / (speech + 0.25 * pauses), speech / (pauses + 1), speech),
            index,
            shipped.params,
            null,
          ).score;
        const by = Math.abs(at(runs) - at(runs - 1));
        t.true(by > 0 && by < 0.035, `${speech} s, ${runs} pauses: ${by}`);
      }
    }
  }
});

test('a short recording is pulled towards the reference', (t) => {
  t.true(scoreOf(0.5, 1, 40) > scoreOf(0.5, 1, 4) && scoreOf(0.5, 1, 4) > 0.5);
  t.is(ownShare(5, 20), 0.2);
});

test('a relative-only measure has an effect only with a baseline', (t) => {
  const pitched = (value: number) => ({
    measures: { ...recordingOf(0.2, 2).measures, pitch_level: { value, unit: 'semitones' } },
    speechSeconds: 20,
  });
  const all = { ...weights, pitch_level: { direction: 'up', weight: 4, relativeOnly: true } } as const;
  t.is(computeIndex(pitched(9), all, params, null).score, 0.5);
  t.is(computeIndex(pitched(9), all, params, null).contributions.length, 2);
  const relative = computeIndex(pitched(9), all, params, pitched(3));
  t.true(Math.abs(relative.score - (0.5 + 0.5 * (1 / (1 + Math.exp(-1)) - 0.5))) < 1e-12);
});

test('an undefined measure has no effect', (t) => {
  const { contributions } = computeIndex(
    { measures: { mean_run: { value: 1, unit: 's' } }, speechSeconds: 5 },
    weights,
    params,
    null,
  );
  t.deepEqual(
    contributions.map(({ measure }) => measure),
    ['mean_run'],
  );
});
