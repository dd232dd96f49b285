import test from 'ava';
import type { ManifestOf } from '../../src/engine/schema.ts';
import { findMoments, type MomentInput } from '../../src/engine/signals/moments.ts';
import type { Labels } from '../../src/engine/signals/speaker-labels.ts';
import { readManifests } from '../../src/node/models.ts';

const params = {
  plainLabels: ['neutral', 'calm'],
  minSpeechSeconds: 1,
  minUtterances: 5,
  minLogOdds: 1,
  minSpreads: 2,
  spreads: { emotion: 0.8, valence: 0.06, arousal: 0.07 },
  priorUtterances: 8,
  logOddsHalfWidth: 0.4,
};

const named = (...labels: readonly string[]): Labels => ({
  labels,
  isPlain: labels.map((label) => params.plainLabels.includes(label)),
  params: null,
});
const labels = named('neutral', 'calm', 'sad', 'angry');

/** An utterance of 2 s. @param angry probability; the rest is neutral */
function utterance(at: number, angry: number, change: Partial<MomentInput> = {}): MomentInput {
  return {
    start: at,
    end: at + 2,
    speechSeconds: 2,
    valence: 0.5,
    arousal: 0.4,
    probabilities: [1 - angry, 0, 0, angry],
    intervals: { valence: [0.4, 0.6], arousal: [0.3, 0.5] },
    ...change,
  };
}

const even = Array.from({ length: 8 }, (_, index) => utterance(3 * index, index % 2 === 0 ? 0.2 : 0.25));
const outburst = utterance(30, 0.95, { arousal: 0.9, intervals: { valence: [0.4, 0.6], arousal: [0.8, 1] } });
const find = (utterances: readonly MomentInput[], earlier: readonly MomentInput[] = []) =>
  findMoments(utterances, earlier, labels, params) ?? [];

test('an even recording has no moments, however emotional it is', (t) => {
  t.deepEqual(find(even), []);
  const angry = Array.from({ length: 8 }, (_, index) => utterance(3 * index, 0.93 + 0.005 * (index % 2)));
  t.deepEqual(find(angry), []);
});

test('an outburst is a moment, with what is unusual about it', (t) => {
  const [moment, ...others] = find([...even, outburst]);
  t.deepEqual(others, []);
  t.is(moment?.start_s, 30);
  t.is(moment?.end_s, 32);
  t.is(moment?.emotion, 'angry');
  t.is(moment?.probability, 0.95);
  const [emotion, arousal, ...rest] = moment?.differences ?? [];
  t.deepEqual(rest, []);
  t.is(emotion?.measure, 'emotion');
  t.is(emotion?.value, 0.95);
  t.true((emotion?.typical ?? 0) >= 0.2 && (emotion?.typical ?? 1) <= 0.25);
  t.is(arousal?.measure, 'arousal');
  t.is(arousal?.typical, 0.4);
  // Of equal values the spread is the prior's share alone: 0.07 sqrt(8 / 17).
  t.is(arousal?.spreads, Math.round(100 * (0.5 / (0.07 * Math.sqrt(8 / 17)))) / 100);
  for (const { spreads, interval } of moment?.differences ?? [])
    t.true(interval[0] < spreads && spreads < interval[1]);
});

test('a speaker who is sometimes emotional needs more for a moment', (t) => {
  const lively = even.map((one, index) => ({ ...one, ...utterance(one.start, index % 2 === 0 ? 0.1 : 0.9) }));
  t.is(find([...even, utterance(30, 0.9)]).length, 1);
  t.is(find([...lively, utterance(30, 0.9)]).length, 0);
});

test('moments are ordered by how unusual they are, at most ten', (t) => {
  const quiet = Array.from({ length: 60 }, (_, index) => utterance(3 * index, 0.2));
  const loud = Array.from({ length: 12 }, (_, index) => utterance(200 + 3 * index, 0.9 + 0.005 * index));
  const found = find([...quiet, ...loud]);
  t.is(found.length, 10);
  const spreads = found.map(({ differences }) => differences[0]?.spreads ?? 0);
  t.deepEqual(
    spreads,
    [...spreads].sort((one, other) => other - one),
  );
  t.is(found[0]?.start_s, 200 + 33);
});

test('a moment has the label that is unusual for the voice', (t) => {
  const sounds = (neutral: number, sad: number, angry: number) => ({
    probabilities: [neutral, 0, sad, angry],
  });
  const usual = even.map((one) => ({ ...one, ...sounds(0.6, 0.39, 0.01) }));
  const shout = { ...outburst, ...sounds(0.02, 0.5, 0.48) };
  const prior = { neutral: -0.2, calm: -4, sad: -4, angry: -4 };
  const emotionBy = (fitted: Labels['params']) =>
    findMoments([...usual, shout], [], { ...labels, params: fitted }, params)?.[0]?.emotion;
  t.is(emotionBy(null), 'sad');
  t.is(emotionBy({ prior, priorUtterances: 2 }), 'angry');
});

test('few utterances are not compared, and short ones are no moments', (t) => {
  t.is(findMoments([...even.slice(0, 3), outburst], [], labels, params), null);
  t.deepEqual(findMoments(even, [], labels, params), []);
  t.deepEqual(find([...even, { ...outburst, speechSeconds: 0.9 }]), []);
});

test('earlier utterances are compared, and are no moments', (t) => {
  t.deepEqual(
    find([outburst], even).map(({ start_s }) => start_s),
    [30],
  );
  t.deepEqual(find([utterance(40, 0.2)], [...even, outburst]), []);
});

test('labels without emotion are those of the models', async (t) => {
  const manifests = await readManifests('models/standard');
  const { labels: own, params: shipped } = manifests.find(
    ({ kind }) => kind === 'emotion',
  ) as ManifestOf<'emotion'>;
  for (const label of shipped.moments?.plainLabels ?? []) t.true(own?.includes(label));
  for (const others of [
    ['neutral', 'calm'],
    ['sad', 'angry'],
  ])
    t.is(findMoments([...even, outburst], [], named(...others), params), null);
});
