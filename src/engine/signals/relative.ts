/** Valence, arousal and label, compared with what is usual for the same speaker. */
import { z } from 'zod';
import { indexOfMax, medianOf } from '../arrays.ts';
import { scoreSchema } from '../report-schema.ts';
import { round, roundTo } from '../rounding.ts';
import type { Interval } from './intervals.ts';
import { isCompared, type MomentParams, type Usual, usual } from './moments.ts';
import { type Labels, relativeProbabilities, speakerLabelParams } from './speaker-labels.ts';

export const relativeParams = z.strictObject({
  /** Factors of the half-width of the 80 % interval of a change, for errors that a speaker's recordings share. */
  valence: z.number().positive(),
  arousal: z.number().positive(),
  /** Absent: not fitted, `relative` has no label. */
  labels: speakerLabelParams.optional(),
});

/** An utterance is compared with those before it, among so many. */
export const maxEarlier = 40;

export const dimensionNames = ['valence', 'arousal'] as const;
export type Dimension = (typeof dimensionNames)[number];

/** Scores of an utterance, or of a recording. */
export type Affect = Readonly<Record<Dimension, number>> & {
  readonly intervals: Readonly<Record<Dimension, Interval>>;
  readonly probabilities: readonly number[];
};
type Utterance = Affect & { readonly speechSeconds: number };

const differenceSchema = z
  .strictObject({
    change: z.number().min(-1).max(1).describe('The score less the median of the reference, -1 to 1.'),
    interval: z
      .tuple([z.number().min(-1).max(1), z.number().min(-1).max(1)])
      .describe('80 % interval of `change`.'),
    spreads: z.number().describe('`change` in spreads of the utterances of the speaker.'),
  })
  .describe('How a score differs from what is usual for the speaker.');

export const relativeSchema = z
  .strictObject({
    to: z
      .enum(['baseline', 'earlier'])
      .describe(
        'The reference: the utterances of `baseline`, or those of a second or more among the last 40 before this one.',
      ),
    valence: differenceSchema,
    arousal: differenceSchema,
    emotion: z
      .string()
      .nullable()
      .describe(
        'The most probable label once the neutral speech of the speaker counts as neutral: its recall of acted emotion is higher ' +
          'than that of `dominant_emotion`. Null with `baseline`, and with models that were not fitted for it.',
      ),
    probability: scoreSchema
      .nullable()
      .describe('Probability of `emotion`, 0 to 1, which was not calibrated.'),
  })
  .nullable()
  .describe('How the voice differs from what is usual for the speaker; null without a reference.');

export type Relative = NonNullable<z.infer<typeof relativeSchema>>;

/** What is usual for a speaker, and how sure it is: the half-width of its 80 % interval. */
export type Reference = Readonly<Record<Dimension, Usual & { readonly halfWidth: number }>> &
  Pick<Relative, 'to'> & { readonly utterances: readonly Affect[] };

function referenceOf(to: Relative['to'], utterances: readonly Affect[], params: MomentParams): Reference {
  const describe = (name: Dimension) => ({
    ...usual(
      utterances.map((one) => one[name]),
      params.spreads[name],
      params,
    ),
    halfWidth: medianOf(utterances.map((one) => halfWidthOf(one, name))) / Math.sqrt(utterances.length),
  });
  return { to, utterances, valence: describe('valence'), arousal: describe('arousal') };
}

/** @returns null without utterances. Those that are too short to be compared count if there are no others */
export function baselineReference(utterances: readonly Utterance[], params: MomentParams): Reference | null {
  const compared = utterances.filter((one) => isCompared(one, params));
  const used = compared.length > 0 ? compared : utterances;
  return used.length === 0 ? null : referenceOf('baseline', used, params);
}

/** @returns the reference of the utterance at `index` without a baseline; null after too few of the speaker */
export function earlierReference(
  utterances: readonly Utterance[],
  index: number,
  params: MomentParams,
): Reference | null {
  const earlier = utterances.slice(Math.max(0, index - maxEarlier), index);
  const compared = earlier.filter((one) => isCompared(one, params));
  return compared.length < params.minUtterances - 1 ? null : referenceOf('earlier', compared, params);
}

/** Errors of the two are independent but for what the factors of `params` say. */
export function compare(
  affect: Affect,
  reference: Reference | null,
  params: z.infer<typeof relativeParams>,
  labels: Labels,
): Relative | null {
  if (reference === null) return null;
  const difference = (name: Dimension) => {
    const { median, spread, halfWidth } = reference[name];
    const change = affect[name] - median;
    const half = params[name] * Math.hypot(halfWidthOf(affect, name), halfWidth);
    return {
      change: round(change),
      interval: [round(Math.max(-1, change - half)), round(Math.min(1, change + half))] as [number, number],
      spreads: roundTo(change / spread, 100),
    };
  };
  const { to, utterances } = reference;
  const probabilities =
    to === 'earlier' ? relativeProbabilities(affect, [...utterances, affect], labels) : null;
  const changes = { to, valence: difference('valence'), arousal: difference('arousal') };
  if (probabilities === null) return { ...changes, emotion: null, probability: null };
  const top = indexOfMax(probabilities);
  return {
    ...changes,
    emotion: labels.labels[top] as string,
    probability: round(probabilities[top] as number),
  };
}

/** One end of an interval may be cut off at 0 or 1. */
function halfWidthOf({ intervals, ...affect }: Affect, name: Dimension): number {
  const [lower, upper] = intervals[name];
  return Math.max(affect[name] - lower, upper - affect[name]);
}

/** "valence -0.12 (-0.25 to +0.01), -0.8 times the usual variation; arousal ...". */
export function formatRelative({ valence, arousal }: Relative): string {
  const format = ({ change, interval: [lower, upper], spreads }: Relative[Dimension]) =>
    `${signed(change, 2)} (${signed(lower, 2)} to ${signed(upper, 2)}), ${signed(spreads, 1)} times the usual variation`;
  return `valence ${format(valence)}; arousal ${format(arousal)}`;
}

function signed(value: number, digits: number): string {
  const size = Math.abs(value).toFixed(digits);
  if (Number(size) === 0) return size;
  return `${value < 0 ? '-' : '+'}${size}`;
}
