/** Labels and scores -> figures, of all recordings and of each group. */
import type { Manifest } from '../../engine/schema.ts';
import type { LabelledRecording } from './labels.ts';
import type { EmotionScores, Scores } from './scores.ts';
import {
  type Answer,
  calibrationError,
  ccc,
  type Estimate,
  estimate,
  type Labels,
  mean,
  type Numbers,
  pcc,
  type Score,
  uar,
} from './statistics.ts';

export type Scored = { readonly recording: LabelledRecording; readonly scores: Scores };

export type Figure = Estimate & {
  readonly figure: string;
  /** `all`, or a value of the column `group`. */
  readonly group: string;
  readonly speakers: number;
  readonly recordings: number;
  /** Why no conclusion can be drawn; null when one can. */
  readonly doubt: 'few speakers' | 'wide interval' | null;
  /** Of the card of the models, for the recordings that are closest to unknown ones. */
  readonly card: { readonly value: number; readonly group: string } | null;
};

/** Smaller groups are left out. */
const minRecordings = 5;
/** With fewer, another draw of speakers may give any result. */
const minSpeakers = 5;
const maxWidth = 0.2;
/** Warnings that an answer is doubtful. */
const doubts = ['low_confidence', 'unlike_training'];
const coverages = [1, 0.75, 0.5, 0.25];

export const dimensions = ['valence', 'arousal', 'clarity'] as const;
export type Dimension = (typeof dimensions)[number];

export function measure(
  scored: readonly Scored[],
  manifests: readonly Pick<Manifest, 'evidence'>[],
): Figure[] {
  const groups = [...new Set(scored.flatMap(({ recording }) => recording.group ?? []))].sort();
  const members = [
    ['all', scored] as const,
    ...groups.map((name) => [name, scored.filter(({ recording }) => recording.group === name)] as const),
  ];
  const labels = labelsOf(scored);
  return members.flatMap(([group, rows]) => measureGroup(group, rows, labels, manifests));
}

/** Labels of the file that the models know. */
export function labelsOf(scored: readonly Scored[]): string[] {
  const known = Object.keys(
    scored.find(({ scores }) => scores.emotion !== null)?.scores.emotion?.probabilities ?? {},
  );
  const used = new Set(scored.map(({ recording }) => recording.label));
  return known.filter((label) => used.has(label));
}

type Cards = readonly Pick<Manifest, 'evidence'>[];
type Rows<Pair> = readonly (readonly [Scored, Pair])[];
type Add = <Pair>(figure: string, score: Score<Pair>, rows: Rows<Pair>, card: RegExp) => void;

function measureGroup(
  group: string,
  scored: readonly Scored[],
  labels: readonly string[],
  manifests: Cards,
): Figure[] {
  const figures: Figure[] = [];
  const add: Add = (figure, score, rows, card) => {
    if (rows.length < minRecordings) return;
    const owners = rows.map(([{ recording }]) => recording.speaker ?? recording.path);
    const pairs = rows.map(([, pair]) => pair);
    const result = estimate(score, pairs, owners);
    if (!Number.isFinite(result.value)) return;
    const speakers = new Set(owners).size;
    const counts = { speakers, recordings: rows.length };
    const doubt = doubtOf(result, speakers);
    figures.push({ figure, group, ...result, ...counts, doubt, card: cardOf(manifests, card) });
  };
  addShares(add, scored);
  addEmotions(add, scored, labels);
  for (const name of dimensions) addDimension(add, scored, name);
  return figures;
}

function addShares(add: Add, scored: readonly Scored[]): void {
  const ok = scored.map((one) => [one, Number(one.scores.emotion !== null)] as const);
  add('answered ok', mean, ok, /^share answered ok$/);
  const unwarned = withEmotion(scored).map(
    ([one, { warnings }]) => [one, Number(!warnings.some((warning) => doubts.includes(warning)))] as const,
  );
  add('answered without a warning', mean, unwarned, /^answered without a warning$/);
}

function addEmotions(add: Add, scored: readonly Scored[], labels: readonly string[]): void {
  const labelled = withEmotion(scored).filter(([{ recording }]) => labels.includes(recording.label ?? ''));
  const choose = (candidates: readonly string[] | null): Rows<Labels> =>
    labelled.map(([one, { probabilities }]) => {
      const predicted = best(probabilities, candidates ?? Object.keys(probabilities));
      return [one, { truth: one.recording.label as string, predicted }] as const;
    });
  add('UAR of the labels of the file', uar, choose(labels), /^mean UAR, corpus left out$/);
  add('UAR, all labels open', uar, choose(null), /^UAR, all labels open, corpus left out$/);
  const answers = labelled.map(([one, scores]) => [one, answerOf(one, scores)] as const);
  const excess = answers.map(
    ([one, { confidence, correct }]) => [one, confidence - Number(correct)] as const,
  );
  add('confidence less accuracy', mean, excess, /^confidence less accuracy$/);
  add('calibration error of confidence', calibrationError, answers, /^calibration error of confidence$/);
  const ordered = answers.toSorted(([, one], [, other]) => other.confidence - one.confidence);
  for (const coverage of coverages) {
    const kept = ordered.slice(0, Math.round(coverage * ordered.length));
    const errors = kept.map(([one, { correct }]) => [one, Number(!correct)] as const);
    const title = `error of the dominant emotion at ${100 * coverage} % coverage`;
    add(title, mean, errors, new RegExp(`^${title}$`));
  }
}

function addDimension(add: Add, scored: readonly Scored[], name: Dimension): void {
  const rated = scored.flatMap((one) => {
    const found = numbersOf(one, name);
    return found === null ? [] : [[one, found] as const];
  });
  const pairs = rated.map(([one, { pair }]) => [one, pair] as const);
  const within = rated.flatMap(([one, { interval }]) =>
    interval === null ? [] : [[one, interval] as const],
  );
  if (name === 'clarity') add('PCC of clarity', pcc, pairs, /^PCC of clarity with their mean$/);
  else add(`CCC of ${name}`, ccc, pairs, new RegExp(`^CCC of ${name}(, corpus left out)?$`));
  const inside = `share of ${name} inside its 80 % interval`;
  add(
    inside,
    mean,
    within.map(([one, interval]) => [one, Number(interval.inside)] as const),
    new RegExp(`^${inside}$`),
  );
  const width = `mean width of the 80 % interval of ${name}`;
  add(
    width,
    mean,
    within.map(([one, interval]) => [one, interval.width] as const),
    new RegExp(`^${width}$`),
  );
}

function withEmotion(scored: readonly Scored[]): Rows<EmotionScores> {
  return scored.flatMap((one) => (one.scores.emotion === null ? [] : [[one, one.scores.emotion] as const]));
}

function doubtOf({ interval }: Estimate, speakers: number): Figure['doubt'] {
  if (speakers < minSpeakers) return 'few speakers';
  return interval === null || interval[1] - interval[0] > maxWidth ? 'wide interval' : null;
}

/** The cards have corpora left out first. */
function cardOf(manifests: Cards, title: RegExp): Figure['card'] {
  const figures = manifests.flatMap(({ evidence }) =>
    evidence.figures.filter(({ figure }) => title.test(figure)),
  );
  const found = figures.find(({ group }) => group === 'corpus left out') ?? figures[0];
  return found === undefined ? null : { value: found.value, group: found.group };
}

export function best(probabilities: EmotionScores['probabilities'], labels: readonly string[]): string {
  const of = (label: string) => probabilities[label] ?? 0;
  return labels.reduce((most, label) => (of(label) > of(most) ? label : most), labels[0] ?? '');
}

export function answerOf({ recording }: Scored, { probabilities }: EmotionScores): Answer {
  const dominant = best(probabilities, Object.keys(probabilities));
  return { correct: dominant === recording.label, confidence: probabilities[dominant] ?? 0 };
}

/** @returns recordings per true label and dominant emotion */
export function confusion(
  scored: readonly Scored[],
  labels: readonly string[],
): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const rows = new Map(labels.map((label) => [label, new Map<string, number>()]));
  for (const { recording, scores } of scored) {
    const row = rows.get(recording.label ?? '');
    if (scores.emotion === null || row === undefined) continue;
    const { probabilities } = scores.emotion;
    const dominant = best(probabilities, Object.keys(probabilities));
    row.set(dominant, (row.get(dominant) ?? 0) + 1);
  }
  return rows;
}

type Rated = {
  readonly pair: Numbers;
  /** Null for models that were not calibrated. */
  readonly interval: { readonly inside: boolean; readonly width: number } | null;
};

/** Null without a rating or a score. */
export function numbersOf(one: Scored, name: Dimension): Rated | null {
  const { emotion, cognitive } = one.scores;
  const truth = one.recording[name];
  const found =
    name === 'clarity'
      ? cognitive && { predicted: cognitive.clarity, interval: cognitive.intervals.clarity }
      : emotion && { predicted: emotion[name], interval: emotion.intervals[name] };
  if (truth === null || !found || found.predicted === null) return null;
  const { interval, predicted } = found;
  return {
    pair: { truth, predicted },
    interval: interval && {
      inside: truth >= interval[0] && truth <= interval[1],
      width: interval[1] - interval[0],
    },
  };
}
