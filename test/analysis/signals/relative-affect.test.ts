/** Valence and arousal less what is usual for the speaker. */
import test from 'ava';
import { baselineReference, compare, earlierReference } from '../../../src/engine/signals/relative.ts';

const params = {
  plainLabels: ['neutral'],
  minSpeechSeconds: 1,
  minUtterances: 5,
  minLogOdds: 1,
  minSpreads: 2,
  spreads: { emotion: 0.8, valence: 0.06, arousal: 0.1 },
  priorUtterances: 8,
  logOddsHalfWidth: 0.4,
};
const factors = { valence: 0.5, arousal: 1 };

/** @param half half-width of both intervals */
function utterance(valence: number, arousal: number, half = 0.1, speechSeconds = 2) {
  const around = (value: number) => [Math.max(0, value - half), Math.min(1, value + half)] as const;
  return {
    valence,
    arousal,
    speechSeconds,
    intervals: { valence: around(valence), arousal: around(arousal) },
  };
}

type Utterance = ReturnType<typeof utterance>;
const toBaseline = (own: Utterance, ...baselines: Utterance[]) =>
  compare(own, baselineReference(baselines, params), factors);

test('without a reference there is no change', (t) => {
  t.is(toBaseline(utterance(0.5, 0.5)), null);
});

test('a change is from the median of the reference, in spreads of the speaker', (t) => {
  const found = toBaseline(
    utterance(0.35, 0.8),
    utterance(0.5, 0.4),
    utterance(0.2, 0.3),
    utterance(0.6, 0.5),
  );
  t.is(found?.to, 'baseline');
  t.is(found?.valence.change, -0.15);
  t.is(found?.arousal.change, 0.4);
  // Three utterances say nothing of a spread: it is that of speakers in general.
  t.is(found?.valence.spreads, -2.5);
  t.is(found?.arousal.spreads, 4);
});

test('the interval is that of two errors, times the factor of the models', (t) => {
  const found = toBaseline(utterance(0.5, 0.5, 0.1), utterance(0.5, 0.5, 0.1));
  const half = Math.round(0.1 * Math.SQRT2 * 10_000) / 10_000;
  t.deepEqual(found?.arousal.interval, [-half, half]);
  t.deepEqual(found?.valence.interval, [-half / 2, half / 2]);
  const cut = toBaseline(utterance(0.98, 0.98, 0.1), utterance(0.5, 0.5, 0.1));
  t.deepEqual(cut?.arousal.interval, [0.48 - half, 0.48 + half]);
});

test('short utterances of a baseline count if there are no others', (t) => {
  const [long, short] = [utterance(0.5, 0.4), utterance(0.5, 0.9, 0.1, 0.6)];
  t.is(toBaseline(utterance(0.5, 0.5), long, short, short)?.arousal.change, 0.1);
  t.is(toBaseline(utterance(0.5, 0.5), short)?.arousal.change, -0.4);
});

test('more utterances of the reference narrow the interval', (t) => {
  const widthBeside = (count: number) => {
    const baselines = Array.from({ length: count }, () => utterance(0.5, 0.5));
    const [lower, upper] = toBaseline(utterance(0.5, 0.5), ...baselines)?.arousal.interval ?? [0, 0];
    return upper - lower;
  };
  t.true(widthBeside(4) < widthBeside(1));
  t.true(widthBeside(4) > 2 * 0.1);
});

test('a speaker who varies has a larger spread', (t) => {
  const own = utterance(0.5, 0.9);
  const even = [0.4, 0.41, 0.39, 0.4].map((arousal) => utterance(0.5, arousal));
  const lively = [0.1, 0.7, 0.2, 0.6].map((arousal) => utterance(0.5, arousal));
  t.true(
    Number(toBaseline(own, ...even)?.arousal.spreads) > Number(toBaseline(own, ...lively)?.arousal.spreads),
  );
});

test('without a baseline the reference is the last 40 utterances before, of a second or more, at least four', (t) => {
  const even = Array.from({ length: 60 }, (_, index) => utterance(0.5, index < 20 ? 0.9 : 0.3));
  const changeAt = (index: number, utterances = even) =>
    compare(utterance(0.5, 0.3), earlierReference(utterances, index, params), factors)?.arousal.change;
  t.is(changeAt(3), undefined);
  t.is(changeAt(4), -0.6);
  t.is(changeAt(60), 0);
  t.is(compare(utterance(0.5, 0.3), earlierReference(even, 60, params), factors)?.to, 'earlier');
  const short = even.map((one, index) => ({ ...one, speechSeconds: index === 2 ? 0.9 : 2 }));
  t.is(changeAt(4, short), undefined);
  t.is(changeAt(5, short), -0.6);
});
