/** Emotion of a recording, and valence and arousal less what is usual for the speaker. */
import { readFile } from 'node:fs/promises';
import test from 'ava';
import type { ManifestOf } from '../../../src/engine/manifest.ts';
import type { Session } from '../../../src/engine/platform.ts';
import { type EmotionReport, emotion } from '../../../src/engine/signals/emotion.ts';
import { baselineReference, compare, earlierReference } from '../../../src/engine/signals/relative.ts';
import { relativeProbabilities } from '../../../src/engine/signals/speaker-labels.ts';
import { readManifests } from '../../../src/node/models.ts';
import { modelSets } from '../../../src/node/paths.ts';
import { reporter } from '../../support/analysis.ts';
import { withManifest } from '../../support/models.ts';

async function manifestOf(modelsDir: string): Promise<ManifestOf<'emotion'>> {
  const manifests = await readManifests(modelsDir);
  return manifests.find(({ kind }) => kind === 'emotion') as ManifestOf<'emotion'>;
}
const manifest = await manifestOf('models/standard');
const labels = manifest.labels as string[];

const utterance = {
  start: 0,
  end: 500,
  speechFrames: 500,
  quality: { snrDb: 30, bandwidthHz: 8000, clippedRatio: 0 },
  embedding: null,
  voice: null,
};
const recording = {
  segments: [{ start: 0, end: 500 }],
  missing: [],
  totals: {},
  framesPerSecond: 100,
  speechSeconds: 5,
  conditions: { speechSeconds: 5, snrDb: 30, bandwidthHz: 8000, clippedRatio: 0 },
  baselines: [],
};
const certain = (label: string) => labels.map((other) => (other === label ? 1 : 0));

type Row = readonly number[];
/** Of models that have valence and arousal. */
type Signals = {
  readonly [Name in keyof Scores]: NonNullable<Scores[Name]>;
} & { readonly intervals: { readonly valence: readonly number[]; readonly arousal: readonly number[] } };
type Scores = Extract<EmotionReport['signals'], { dominant_emotion: string }>;

function reportOf(row: Row, { params }: { readonly params: (typeof manifest)['params'] } = manifest) {
  const head = { session: null as unknown as Session, manifest: { params, labels } };
  const utterances = [{ ...utterance, rows: { emotion: row } }];
  return emotion.report(emotion.aggregate([], { ...recording, utterances }, head), params);
}

/** Words that contradict an emotion. */
const contradictions: Readonly<Record<string, readonly string[]>> = {
  neutral: ['subdued', 'tense', 'distressed'],
  calm: ['engaged', 'subdued', 'tense', 'distressed'],
  happy: ['subdued', 'tense', 'distressed'],
  sad: ['calm', 'engaged', 'tense', 'distressed'],
  angry: ['calm', 'engaged', 'subdued'],
  fearful: ['calm', 'engaged', 'subdued'],
  disgusted: ['calm', 'engaged'],
  surprised: ['calm', 'subdued', 'distressed'],
};
/** Words in the halves of the plane. */
const halves = { negative: ['tense', 'distressed', 'subdued'], excited: ['engaged', 'tense', 'distressed'] };

/** A word but `neutral` lies in its quadrant, beyond the bounds, and agrees with the emotion. */
function contradicts(label: string, { tone, valence, arousal }: Signals, { params }: typeof manifest) {
  if (tone === 'neutral') return false;
  const { lowValence, highValence, lowArousal, highArousal } = params.tone;
  const inside =
    (halves.negative.includes(tone) ? valence < lowValence : valence >= highValence) &&
    (halves.excited.includes(tone) ? arousal >= highArousal : arousal < lowArousal);
  return !inside || contradictions[label]?.includes(tone) !== false;
}

test('a bound on the wrong side of the middle is refused', async (t) => {
  const models = await withManifest(t, 'emotion', ({ params }) =>
    Object.assign((params as Record<string, object>).tone as object, { lowValence: 0.51 }),
  );
  await t.throwsAsync(readManifests(models), { message: /tone/ });
});

for (const models of modelSets.map((name) => `models/${name}`)) {
  test(`${models}: no tone contradicts the dominant emotion or the printed point`, async (t) => {
    const shipped = await manifestOf(models);
    const found = new Set<string>();
    // Each is printed as the next hundredth, where the bounds are.
    const steps = Array.from({ length: 101 }, (_, step) => step / 100 - 0.00004);
    for (const label of labels) {
      for (const valence of steps) {
        for (const arousal of steps) {
          const { signals } = reportOf([valence, arousal, 1, 1, 0, ...certain(label)], shipped);
          found.add((signals as Signals).tone);
          if (contradicts(label, signals as Signals, shipped)) t.fail(`${label}: ${JSON.stringify(signals)}`);
        }
      }
    }
    t.deepEqual([...found].sort(), ['calm', 'distressed', 'engaged', 'neutral', 'subdued', 'tense']);
  });
}

/** A model with the given outputs. */
async function inferred(outputs: Readonly<Record<string, readonly number[]>>): Promise<Row> {
  const values = Object.entries(outputs).map(([name, data]) => [
    name,
    { data: Float32Array.from(data), shape: [1, data.length] },
  ]);
  const session: Session = {
    inputs: [],
    outputs: [],
    widths: {},
    run: async () => Object.fromEntries(values),
  };
  const empty = { data: new Float32Array(), shape: [] };
  return (await emotion.score?.({ embeddings: empty, weights: empty }, { session, manifest })) as Row;
}
const certainHappy = { probabilities: certain('happy'), valence: [0.5], arousal: [0.5] };

test('unlike_training beyond the distance of the manifest', async (t) => {
  const params = { ...manifest.params, unlikeDistance: 8 };
  const warns = async (outputs: Parameters<typeof inferred>[0]) =>
    reportOf(await inferred(outputs), { ...manifest, params }).warnings.includes('unlike_training');
  const spread = { valence_spread: [1], arousal_spread: [1] };
  t.true(await warns({ ...certainHappy, ...spread, distance: [8.1] }));
  t.false(await warns({ ...certainHappy, ...spread, distance: [8] }));
});

test('an interval is as wide as the spread of the model', async (t) => {
  const widthOf = async (name: 'valence' | 'arousal', spread: number) => {
    const spreads = { valence_spread: [0.1], arousal_spread: [0.1], [`${name}_spread`]: [spread] };
    const { signals } = reportOf(await inferred({ ...certainHappy, ...spreads, distance: [0] }));
    const [lower, upper] = (signals as Signals).intervals[name];
    return upper - lower;
  };
  for (const name of ['valence', 'arousal'] as const) {
    const [narrow, wide] = [await widthOf(name, 0.1), await widthOf(name, 0.2)];
    t.true(Math.abs(wide - 2 * narrow) < 0.001, `${name}: ${narrow}, ${wide}`);
  }
});

test('a recording too far for the manifest of a model folder is unlike the training', async (t) => {
  const models = await withManifest(t, 'emotion', ({ params }) =>
    Object.assign(params as object, { unlikeDistance: 1e-9 }),
  );
  const { emotion } = await (await reporter(models))(await readFile('examples/sample.wav'));
  t.true(emotion.warnings.includes('unlike_training'));
});

test('scores of a recording are those of its utterances, weighted by their speech', (t) => {
  const rows = [
    [0.2, 0.4, 0.1, 0.1, 0, ...certain('happy')],
    [0.6, 0.8, 0.1, 0.1, 0, ...certain('sad')],
  ];
  const utterances = rows.map((row, index) => ({
    ...utterance,
    speechFrames: [300, 100][index] as number,
    rows: { emotion: row },
  }));
  const head = { session: null as unknown as Session, manifest };
  const result = emotion.aggregate([], { ...recording, utterances }, head);
  const { valence, arousal, dominant_emotion, confidence } = emotion.report(result, manifest.params)
    .signals as Signals;
  t.deepEqual([valence, arousal, dominant_emotion, confidence], [0.3, 0.5, 'happy', 0.75]);
});

test('models without valence, or without arousal, report none', (t) => {
  const row = [0.3, 0.7, 0.1, 0.1, 0, ...certain('angry')];
  const withOnly = (...dimensions: ('valence' | 'arousal')[]) =>
    reportOf(row, { params: { ...manifest.params, dimensions } });
  const none = withOnly();
  t.like(none.signals, {
    valence: null,
    arousal: null,
    tone: null,
    intervals: { valence: null, arousal: null },
  });
  t.like((none as unknown as EmotionReport).timeline[0], { valence: null, arousal: null, relative: null });
  const one = withOnly('arousal').signals as Scores;
  t.like(one, { valence: null, arousal: 0.7, tone: null });
  t.is(one.intervals.valence, null);
  t.true(Array.isArray(one.intervals.arousal));
});

// Valence and arousal less what is usual for the speaker.

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
const noLabels = { labels: ['neutral'], isPlain: [true], params: null };

/** @param half half-width of both intervals */
function relativeUtterance(valence: number, arousal: number, half = 0.1, speechSeconds = 2) {
  const around = (value: number) => [Math.max(0, value - half), Math.min(1, value + half)] as const;
  return {
    valence,
    arousal,
    speechSeconds,
    intervals: { valence: around(valence), arousal: around(arousal) },
    probabilities: [1],
  };
}

type Utterance = ReturnType<typeof relativeUtterance>;
const toBaseline = (own: Utterance, ...baselines: Utterance[]) =>
  compare(own, baselineReference(baselines, params), factors, noLabels);

test('without a reference there is no change', (t) => {
  t.is(toBaseline(relativeUtterance(0.5, 0.5)), null);
});

test('a change is from the median of the reference, in spreads of the speaker', (t) => {
  const found = toBaseline(
    relativeUtterance(0.35, 0.8),
    relativeUtterance(0.5, 0.4),
    relativeUtterance(0.2, 0.3),
    relativeUtterance(0.6, 0.5),
  );
  t.is(found?.to, 'baseline');
  t.is(found?.valence.change, -0.15);
  t.is(found?.arousal.change, 0.4);
  // Three utterances say nothing of a spread: it is that of speakers in general.
  t.is(found?.valence.spreads, -2.5);
  t.is(found?.arousal.spreads, 4);
});

test('the interval is that of two errors, times the factor of the models', (t) => {
  const found = toBaseline(relativeUtterance(0.5, 0.5, 0.1), relativeUtterance(0.5, 0.5, 0.1));
  const half = Math.round(0.1 * Math.SQRT2 * 10_000) / 10_000;
  t.deepEqual(found?.arousal.interval, [-half, half]);
  t.deepEqual(found?.valence.interval, [-half / 2, half / 2]);
  const cut = toBaseline(relativeUtterance(0.98, 0.98, 0.1), relativeUtterance(0.5, 0.5, 0.1));
  t.deepEqual(cut?.arousal.interval, [0.48 - half, 0.48 + half]);
});

test('short utterances of a baseline count if there are no others', (t) => {
  const [long, short] = [relativeUtterance(0.5, 0.4), relativeUtterance(0.5, 0.9, 0.1, 0.6)];
  t.is(toBaseline(relativeUtterance(0.5, 0.5), long, short, short)?.arousal.change, 0.1);
  t.is(toBaseline(relativeUtterance(0.5, 0.5), short)?.arousal.change, -0.4);
});

test('more utterances of the reference narrow the interval', (t) => {
  const widthWith = (count: number) => {
    const baselines = Array.from({ length: count }, () => relativeUtterance(0.5, 0.5));
    const [lower, upper] = toBaseline(relativeUtterance(0.5, 0.5), ...baselines)?.arousal.interval ?? [0, 0];
    return upper - lower;
  };
  t.true(widthWith(4) < widthWith(1));
  t.true(widthWith(4) > 2 * 0.1);
});

test('a speaker who varies has a larger spread', (t) => {
  const own = relativeUtterance(0.5, 0.9);
  const even = [0.4, 0.41, 0.39, 0.4].map((arousal) => relativeUtterance(0.5, arousal));
  const lively = [0.1, 0.7, 0.2, 0.6].map((arousal) => relativeUtterance(0.5, arousal));
  t.true(
    Number(toBaseline(own, ...even)?.arousal.spreads) > Number(toBaseline(own, ...lively)?.arousal.spreads),
  );
});

test('without a baseline the reference is the last 40 utterances before, of a second or more, at least four', (t) => {
  const even = Array.from({ length: 60 }, (_, index) => relativeUtterance(0.5, index < 20 ? 0.9 : 0.3));
  const changeAt = (index: number, utterances = even) =>
    compare(relativeUtterance(0.5, 0.3), earlierReference(utterances, index, params), factors, noLabels)
      ?.arousal.change;
  t.is(changeAt(3), undefined);
  t.is(changeAt(4), -0.6);
  t.is(changeAt(60), 0);
  t.is(
    compare(relativeUtterance(0.5, 0.3), earlierReference(even, 60, params), factors, noLabels)?.to,
    'earlier',
  );
  const short = even.map((one, index) => ({ ...one, speechSeconds: index === 2 ? 0.9 : 2 }));
  t.is(changeAt(4, short), undefined);
  t.is(changeAt(5, short), -0.6);
});

test('`relative` has the label by what came before and itself, without a baseline', (t) => {
  const labels = {
    labels: ['neutral', 'sad', 'angry'],
    isPlain: [true, false, false],
    params: {
      prior: { neutral: Math.log(0.8), sad: Math.log(0.1), angry: Math.log(0.1) },
      priorUtterances: 5,
    },
  };
  const sad = { ...relativeUtterance(0.5, 0.5), probabilities: [0.45, 0.5, 0.05] };
  const spoken = Array.from({ length: 11 }, () => sad);
  const reference = earlierReference(spoken, 10, params);
  const found = compare(sad, reference, factors, labels);
  t.like(found, { to: 'earlier', emotion: 'neutral' });
  const itself = relativeProbabilities(sad, spoken, labels)?.[0] as number;
  t.is(found?.probability, Math.round(10_000 * itself) / 10_000);
  const none = { emotion: null, probability: null };
  t.like(compare(sad, reference, factors, { ...labels, params: null }), none);
  t.like(compare(sad, baselineReference(spoken, params), factors, labels), none);
});
