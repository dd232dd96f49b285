/** Emotion: probabilities of labels, valence, arousal and tone. */
import { z } from 'zod';
import { indexOfMax, weightedMean } from '../arrays.ts';
import type { Values } from '../platform.ts';
import { bodySchema, entryShape, intervalSchema, scoreSchema, timelineSchema } from '../report-schema.ts';
import { round, roundInterval, roundParts } from '../rounding.ts';
import type { ScoredUtterance, SignalDefinition } from './definition.ts';
import {
  type Conditions,
  degradationParams,
  degradationsOf,
  formatScore,
  type Interval,
  interval,
  intervalParams,
} from './intervals.ts';
import {
  findMoments,
  formatMoment,
  type Moment,
  momentParams,
  momentSchema,
  momentsSchema,
} from './moments.ts';
import {
  type Affect,
  baselineReference,
  compare,
  type Dimension,
  dimensionNames,
  earlierReference,
  formatRelative,
  type Reference,
  type Relative,
  relativeParams,
  relativeSchema,
} from './relative.ts';
import { type Tone, toneOf, toneParams } from './tone.ts';

const params = z
  .strictObject({
    /** Those that reports have: models that were fitted to labels alone have none. */
    dimensions: z.array(z.enum(dimensionNames)),
    /** Null: not fitted, reports have no interval. `moments` needs both, and is null then. */
    intervals: z.strictObject({ valence: intervalParams.nullable(), arousal: intervalParams.nullable() }),
    degradations: degradationParams,
    shortSpeechSeconds: z.number().positive(),
    /** Below this probability of the dominant emotion the report warns `low_confidence`. */
    lowConfidence: z.number().min(0).max(1),
    tone: toneParams,
    /** No labelled recording has calibrated the probabilities: reports warn `uncalibrated`. */
    uncalibrated: z.literal(true).optional(),
    /** Beyond this distance from the training recordings the report warns `unlike_training`. */
    unlikeDistance: z.number().positive(),
    /** Null: not fitted, reports have no moments. */
    moments: momentParams.nullable(),
    relative: relativeParams,
  })
  .refine(
    ({ moments, intervals }) =>
      moments === null || (intervals.valence !== null && intervals.arousal !== null),
    'Expected null for `moments` without both intervals',
  );

type Scores = {
  readonly valence: number;
  readonly arousal: number;
  readonly probabilities: readonly number[];
};

/** Half-widths of the intervals of a good recording, and the distance from the training recordings. */
type Uncertainty = {
  readonly valenceSpread: number;
  readonly arousalSpread: number;
  readonly distance: number;
};

type Intervals = Readonly<Record<Dimension, Interval>>;

/** Null: not of `dimensions`. */
type Reported = Pick<Scores, 'probabilities'> &
  Readonly<Record<Dimension, number | null>> & {
    readonly intervals: Readonly<Record<Dimension, Interval | null>>;
    readonly relative: Relative | null;
  };

type EmotionResult = Reported & {
  readonly labels: readonly string[];
  readonly tone: Tone | null;
  readonly timeline: readonly (Reported & { readonly start: number; readonly end: number })[];
  readonly moments: readonly Moment[] | null;
  readonly uncalibrated: boolean;
  readonly lowConfidence: boolean;
  readonly unlikeTraining: boolean;
  readonly shortSpeech: boolean;
};

const dominantEmotion = z
  .string()
  .describe(
    'The most probable of the labels: angry, disgusted, fearful, happy, neutral, sad or surprised; calm too with models/research; of adapted models, those that they learned.',
  );
const valence = scoreSchema
  .nullable()
  .describe(
    'How positive listeners find the voice, 0 (negative) to 1 (positive). With models that may be sold it follows from emotion categories, not from ratings; null with models that were adapted without ratings of it.',
  );
const arousal = scoreSchema
  .nullable()
  .describe(
    'How activated listeners find the voice, 0 (calm, subdued) to 1 (excited, agitated). With models that may be sold it follows from emotion categories, not from ratings; null with models that were adapted without ratings of it.',
  );
const intervals = z
  .strictObject({
    valence: intervalSchema.nullable().describe('80 % interval of valence: lower and upper end, 0 to 1.'),
    arousal: intervalSchema.nullable().describe('80 % interval of arousal: lower and upper end, 0 to 1.'),
  })
  .describe(
    'Calibrated on speakers whom the heads were not fitted on; wider when speech is short or the recording poor. With models that may be ' +
      'sold they hold for values of the emotion categories, not for ratings.',
  );
const emotions = z
  .record(z.string(), scoreSchema.describe('Probability, 0 to 1.'))
  .describe('Probability of each label, 0 to 1; together they are 1.');
const scores = z
  .strictObject({
    valence,
    arousal,
    dominant_emotion: dominantEmotion,
    tone: z
      .string()
      .nullable()
      .describe(
        'A word for valence and arousal that agrees with the dominant emotion: calm, engaged, tense, distressed, ' +
          'subdued, or neutral, in the middle and where the two disagree; null without both.',
      ),
    emotions,
    confidence: scoreSchema.describe('Probability of the dominant emotion, 0 to 1.'),
    intervals,
  })
  .describe('How the voice sounds to listeners, which is not what the person feels.');

const emotionEntry = z
  .strictObject({
    ...entryShape,
    valence,
    arousal,
    dominant_emotion: dominantEmotion,
    emotions,
    confidence: scoreSchema.describe('Probability of the dominant emotion, 0 to 1.'),
    intervals,
    relative: relativeSchema.describe(
      'The utterance compared with what is usual for the speaker. Null without `baseline` until the speaker has ' +
        'spoken four utterances of a second or more.',
    ),
  })
  .describe('Emotion of an utterance, from its speech alone.');

const body = bodySchema(scores, {
  timeline: timelineSchema(emotionEntry),
  moments: momentsSchema,
  relative: relativeSchema.describe(
    'The recording compared with the speaker at rest; null without `baseline`.',
  ),
});

const rowOutputs = [
  'valence',
  'arousal',
  'valence_spread',
  'arousal_spread',
  'distance',
  'probabilities',
] as const;
/** One utterance: the values of `rowOutputs`, the probability of each label last. */
type Row = readonly number[];

const toScores = ([valence, arousal, valenceSpread, arousalSpread, distance, ...probabilities]: Row) =>
  ({ valence, arousal, valenceSpread, arousalSpread, distance, probabilities }) as Scores & Uncertainty;

export type EmotionReport = z.infer<typeof body>;

export const emotion: SignalDefinition<z.infer<typeof params>, unknown, EmotionResult, typeof body> = {
  title: 'emotion',
  inputs: ['tokens', 'weights'],
  outputs: ['probabilities', 'valence', 'arousal', 'valence_spread', 'arousal_spread', 'distance'],
  labels: z.array(z.string()).min(2).max(64),
  params,
  usesBaseline: ({ moments, dimensions }) => moments !== null && dimensions.length === dimensionNames.length,
  body,
  components: {
    EmotionSignals: scores,
    EmotionIntervals: intervals,
    EmotionEntry: emotionEntry,
    Moment: momentSchema,
    RelativeAffect: relativeSchema,
  },
  columns: [
    { name: 'valence', field: 'valence', table: ['VALENCE', 7] },
    { name: 'arousal', field: 'arousal', table: ['AROUSAL', 7] },
    { name: 'dominant_emotion', field: 'dominant_emotion', table: ['EMOTION', 9] },
    { name: 'tone', field: 'tone' },
    { name: 'emotion_confidence', field: 'confidence' },
  ],

  async score({ embeddings, weights }, { session }): Promise<Row> {
    const outputs = await session.run({ tokens: embeddings, weights });
    return rowOutputs.flatMap((name) => [...(outputs[name] as Values).data]);
  },

  aggregate(_, recording, { manifest }) {
    const { params } = manifest;
    const only = <Value>(name: Dimension, value: Value) => (params.dimensions.includes(name) ? value : null);
    const rated = ({ valence, arousal, intervals }: Affect) => ({
      valence: only('valence', valence),
      arousal: only('arousal', arousal),
      intervals: {
        valence: only('valence', params.intervals.valence && intervals.valence),
        arousal: only('arousal', params.intervals.arousal && intervals.arousal),
      },
    });
    const hasBoth = params.dimensions.length === dimensionNames.length;
    const labels = manifest.labels ?? [];
    const { utterances, framesPerSecond, earlier = [] } = recording;
    const rows = utterances.map((utterance) => utterance.rows.emotion as Row);
    const weights = utterances.map(({ speechFrames }) => speechFrames);
    const pooled = toScores([...weightedMean(rows, weights)]);
    const dominant = labels[indexOfMax(pooled.probabilities)] ?? '';
    const printed = { valence: round(pooled.valence), arousal: round(pooled.arousal) };
    const intervalsOf = (scores: Scores & Uncertainty, conditions: Conditions): Intervals => {
      const degradations = degradationsOf(conditions, params.degradations);
      return {
        valence: interval(scores.valence, params.intervals.valence, degradations, scores.valenceSpread),
        arousal: interval(scores.arousal, params.intervals.arousal, degradations, scores.arousalSpread),
      };
    };
    const describe = (utterance: ScoredUtterance) => {
      const scores = toScores(utterance.rows.emotion as Row);
      const speechSeconds = utterance.speechFrames / framesPerSecond;
      return {
        start: utterance.start / framesPerSecond,
        end: utterance.end / framesPerSecond,
        speechSeconds,
        ...scores,
        intervals: intervalsOf(scores, { ...utterance.quality, speechSeconds }),
      };
    };
    const timeline = utterances.map(describe);
    const before = earlier.map(describe);
    const all = [...before, ...timeline];
    const atRest = recording.baselines.flatMap((baseline) => baseline.utterances.map(describe));
    const { moments } = params;
    const rest = moments && baselineReference(atRest, moments);
    const speakerLabels = {
      labels,
      isPlain: labels.map((label) => moments?.plainLabels.includes(label) === true),
      params: params.relative.labels ?? null,
    };
    const relativeTo = (affect: Affect, reference: Reference | null) =>
      compare(affect, reference, params.relative, speakerLabels);
    const whole = { ...pooled, intervals: intervalsOf(pooled, recording.conditions) };
    return {
      ...whole,
      ...rated(whole),
      labels,
      tone: hasBoth ? toneOf(dominant, printed, params.tone) : null,
      relative: relativeTo(whole, rest),
      timeline: timeline.map((one, index) => {
        const earlier = () => moments && earlierReference(all, before.length + index, moments);
        const reference = hasBoth ? (rest ?? earlier()) : null;
        return { ...one, ...rated(one), relative: relativeTo(one, reference) };
      }),
      moments:
        (moments && findMoments(timeline, before, speakerLabels, moments))?.map((moment) => ({
          ...moment,
          differences: moment.differences.filter(
            ({ measure }) => measure === 'emotion' || only(measure, true),
          ),
        })) ?? null,
      uncalibrated: params.uncalibrated === true,
      lowConfidence: Math.max(...pooled.probabilities) < params.lowConfidence,
      unlikeTraining: pooled.distance > params.unlikeDistance,
      shortSpeech: recording.speechSeconds < params.shortSpeechSeconds,
    };
  },

  report(result) {
    return {
      signals: result === null ? {} : signalsOf(result),
      timeline: result === null ? [] : timelineOf(result),
      moments: result === null ? null : result.moments,
      relative: result === null ? null : result.relative,
      warnings: [
        ...(result?.shortSpeech ? (['short_speech'] as const) : []),
        ...(result?.uncalibrated ? (['uncalibrated'] as const) : []),
        ...(result?.lowConfidence ? (['low_confidence'] as const) : []),
        ...(result?.unlikeTraining ? (['unlike_training'] as const) : []),
      ],
    };
  },

  describe({ signals, moments = null, relative = null }) {
    const { valence, arousal, dominant_emotion, tone, confidence, intervals } = signals;
    const line = (name: Dimension, score: number | null) => {
      const bounds = intervals[name];
      return score === null ? [] : [[name, formatScore(name, score, bounds)] as const];
    };
    return [
      ['emotion', `${dominant_emotion} (${confidence.toFixed(2)})${tone === null ? '' : `, tone ${tone}`}`],
      ...line('valence', valence),
      ...line('arousal', arousal),
      ...(relative === null ? [] : [['from baseline', formatRelative(relative)] as const]),
      ...linesOf(moments).map((line, index) => [index === 0 ? 'moments' : '', line] as const),
    ];
  },
};

function linesOf(moments: readonly Moment[] | null): string[] {
  return moments?.length === 0 ? ['none'] : (moments ?? []).map(formatMoment);
}

function signalsOf(result: EmotionResult): z.infer<typeof scores> {
  const { valence, arousal, dominant_emotion, ...rest } = scoresOf(result, result.labels);
  return { valence, arousal, dominant_emotion, tone: result.tone, ...rest };
}

function scoresOf(
  { valence, arousal, intervals, ...result }: Omit<Reported, 'relative'>,
  labels: readonly string[],
) {
  const top = indexOfMax(result.probabilities);
  const shares = roundParts(result.probabilities, 1);
  return {
    valence: valence === null ? null : round(valence),
    arousal: arousal === null ? null : round(arousal),
    dominant_emotion: labels[top] as string,
    emotions: Object.fromEntries(labels.map((label, index) => [label, shares[index] as number])),
    confidence: shares[top] as number,
    intervals: {
      valence: intervals.valence && roundInterval(intervals.valence),
      arousal: intervals.arousal && roundInterval(intervals.arousal),
    },
  };
}

function timelineOf({ labels, timeline }: EmotionResult): EmotionReport['timeline'] {
  return timeline.map(({ start, end, relative, ...result }) => ({
    start_s: round(start),
    end_s: round(end),
    ...scoresOf(result, labels),
    relative,
  }));
}
