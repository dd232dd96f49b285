/** Moments: utterances that sound more emotional than the other utterances of the same speaker. */
import { z } from 'zod';
import { indexOfMax, medianOf } from '../arrays.ts';
import { minProbability } from '../correction.ts';
import { entryShape, scoreSchema } from '../report-schema.ts';
import { round, roundTo } from '../rounding.ts';
import type { Interval } from './intervals.ts';
import { type Labels, relativeProbabilities } from './speaker-labels.ts';

const spread = z.number().positive();

export const momentParams = z.strictObject({
  /** Labels of speech without emotion. */
  plainLabels: z.array(z.string()).min(1),
  /** Shorter utterances are not compared. */
  minSpeechSeconds: z.number().positive(),
  /** Minimum utterances of a speaker, the moment included. */
  minUtterances: z.int().min(3),
  /** The log odds of an emotion are at least so high, and so many spreads above the speaker's median. */
  minLogOdds: z.number(),
  minSpreads: z.number().positive(),
  /** Spreads within a speaker. They count as `priorUtterances` utterances in addition to those of the recording. */
  spreads: z.strictObject({ emotion: spread, valence: spread, arousal: spread }),
  priorUtterances: z.number().positive(),
  /** Half-width of the 80 % interval of the log odds of an utterance. */
  logOddsHalfWidth: z.number().nonnegative(),
});
export type MomentParams = z.infer<typeof momentParams>;

/** Moments of a report, the most unusual ones. */
const maxMoments = 10;

const measureNames = ['emotion', 'valence', 'arousal'] as const;
type MeasureName = (typeof measureNames)[number];

/** Scores of an utterance; times in seconds. */
export type MomentInput = {
  readonly start: number;
  readonly end: number;
  readonly speechSeconds: number;
  readonly valence: number;
  readonly arousal: number;
  /** In the order of the labels. */
  readonly probabilities: readonly number[];
  readonly intervals: { readonly valence: Interval; readonly arousal: Interval };
};

/** How far a measure of an utterance is from the median of its speaker. */
const differenceSchema = z
  .strictObject({
    measure: z
      .enum(measureNames)
      .describe('`emotion`: probability of all labels but neutral and calm; `valence` or `arousal`.'),
    value: scoreSchema.describe('Of the utterance, 0 to 1.'),
    typical: scoreSchema.describe('Median of the utterances of the speaker, 0 to 1.'),
    spreads: z
      .number()
      .describe('Difference of the two in spreads of the speaker; of `emotion` on the scale of log odds.'),
    interval: z.tuple([z.number(), z.number()]).describe('80 % interval of `spreads`.'),
  })
  .describe('A measure that is unusual for the speaker.');

export const momentSchema = z
  .strictObject({
    ...entryShape,
    emotion: z
      .string()
      .describe(
        'The most probable label but neutral and calm, given how the speaker sounds (as `relative.emotion`).',
      ),
    probability: scoreSchema.describe('Probability of that label, 0 to 1.'),
    differences: z
      .array(differenceSchema)
      .min(1)
      .describe('What is unusual: `emotion` first, then valence and arousal if they are.'),
  })
  .describe('An utterance that sounds more emotional than the others of the speaker.');

export const momentsSchema = z
  .array(momentSchema)
  .max(maxMoments)
  .nullable()
  .describe(
    'Utterances that sound more emotional than the others of the same speaker, the most unusual first, at most ten. ' +
      'Usually empty for even speech. Null where nothing is compared: with fewer than five utterances of a second or more, and ' +
      'with models that have neither neutral nor calm among their labels.',
  );

export type Moment = z.infer<typeof momentSchema>;

/**
 * @param utterances in which moments are searched
 * @param earlier utterances of the same speaker, which are compared but never moments
 * @returns at most `maxMoments`, the most unusual first; null where nothing is compared
 */
export function findMoments(
  utterances: readonly MomentInput[],
  earlier: readonly MomentInput[],
  speakerLabels: Labels,
  params: MomentParams,
): Moment[] | null {
  const { labels, isPlain } = speakerLabels;
  const candidates = utterances.filter((one) => isCompared(one, params));
  const compared = [...earlier.filter((one) => isCompared(one, params)), ...candidates];
  const hasBothKinds = isPlain.includes(true) && isPlain.includes(false);
  if (compared.length < params.minUtterances || !hasBothKinds) return null;

  const logOddsOf = ({ probabilities }: MomentInput) =>
    logOdds(probabilities.reduce((sum, value, index) => sum + (isPlain[index] ? 0 : value), 0));
  const [emotion, valence, arousal] = [
    usual(compared.map(logOddsOf), params.spreads.emotion, params),
    usual(
      compared.map((one) => one.valence),
      params.spreads.valence,
      params,
    ),
    usual(
      compared.map((one) => one.arousal),
      params.spreads.arousal,
      params,
    ),
  ];

  function describe(one: MomentInput): Moment {
    const odds = logOddsOf(one);
    const half = params.logOddsHalfWidth;
    const probabilities = relativeProbabilities(one, compared, speakerLabels) ?? one.probabilities;
    const label = indexOfMax(probabilities.map((value, index) => (isPlain[index] ? -1 : value)));
    const unusual = [
      difference('valence', one.valence, one.intervals.valence, valence),
      difference('arousal', one.arousal, one.intervals.arousal, arousal),
    ].filter(({ spreads }) => Math.abs(spreads) >= params.minSpreads);
    return {
      start_s: round(one.start),
      end_s: round(one.end),
      emotion: labels[label] as string,
      probability: round(one.probabilities[label] as number),
      differences: [
        difference('emotion', odds, [odds - half, odds + half], emotion, probabilityOf),
        ...unusual,
      ],
    };
  }

  return candidates
    .map((one) => ({ one, odds: logOddsOf(one) }))
    .filter(({ odds }) => odds >= params.minLogOdds && spreadsOf(odds, emotion) >= params.minSpreads)
    .sort((one, other) => other.odds - one.odds || one.one.start - other.one.start)
    .slice(0, maxMoments)
    .map(({ one }) => describe(one));
}

/** "42.1 to 44.9 s: angry (0.81), 4.1 times the usual variation of this voice". */
export function formatMoment({ start_s, end_s, emotion, probability, differences }: Moment): string {
  const spreads = differences[0]?.spreads.toFixed(1);
  return `${start_s.toFixed(1)} to ${end_s.toFixed(1)} s: ${emotion} (${probability.toFixed(2)}), ${spreads} times the usual variation of this voice`;
}

/** Scores of shorter utterances vary more than those of a speaker. */
export function isCompared(
  { speechSeconds }: { readonly speechSeconds: number },
  { minSpeechSeconds }: MomentParams,
): boolean {
  return speechSeconds >= minSpeechSeconds;
}

/** What is usual for a speaker. */
export type Usual = { readonly median: number; readonly spread: number };

/**
 * @param prior spread within a speaker of whom nothing is known; fewer values than a moment is compared with leave it as it is
 */
export function usual(
  values: readonly number[],
  prior: number,
  { priorUtterances, minUtterances }: MomentParams,
): Usual {
  const median = medianOf(values);
  // Of a normal distribution: its standard deviation.
  const measured = 1.4826 * medianOf(values.map((value) => Math.abs(value - median)));
  const count = values.length < minUtterances - 1 ? 0 : values.length;
  const squares = count * measured ** 2 + priorUtterances * prior ** 2;
  return { median, spread: Math.sqrt(squares / (count + priorUtterances)) };
}

function spreadsOf(value: number, { median, spread }: Usual): number {
  return (value - median) / spread;
}

/** @param toScore from the scale of the comparison to that of the report */
function difference(
  measure: MeasureName,
  value: number,
  [lower, upper]: Interval,
  usual: Usual,
  toScore = (compared: number) => compared,
) {
  return {
    measure,
    value: round(toScore(value)),
    typical: round(toScore(usual.median)),
    spreads: roundTo(spreadsOf(value, usual), 100),
    interval: [roundTo(spreadsOf(lower, usual), 100), roundTo(spreadsOf(upper, usual), 100)] as [
      number,
      number,
    ],
  };
}

function logOdds(probability: number): number {
  const bounded = Math.min(1 - minProbability, Math.max(minProbability, probability));
  return Math.log(bounded / (1 - bounded));
}

function probabilityOf(odds: number): number {
  return 1 / (1 + Math.exp(-odds));
}
