/** Cognitive signals: clarity from a model, cognitive load and processing from measures of timing. */
import { z } from 'zod';
import type { ProsodyTrack, Values } from '../platform.ts';
import { bodySchema, intervalSchema, scoreSchema } from '../report-schema.ts';
import { round, roundInterval, roundParts } from '../rounding.ts';
import type { SignalDefinition } from './definition.ts';
import {
  type Index,
  type IndexWithInterval,
  indexWeightsParams,
  type Measured,
  referenceParams,
  referenceScore,
  scoreIndices,
  speechShare,
} from './indices.ts';
import {
  degradationParams,
  degradationsOf,
  formatScore,
  type Interval,
  interval,
  intervalParams,
} from './intervals.ts';
import { addSyllables, type Measures, noSyllables, runsOf, type SyllableTotals } from './measures.ts';
import {
  describeChunk,
  joinSpeakers,
  measureSpeaker,
  measuresParams,
  type SpeakerChunk,
  soundsLikeAnother,
  speakerParams,
} from './speaker.ts';

const scriptedParams = z.strictObject({
  /** Minimum speech for a decision. */
  minSpeechSeconds: z.number().positive(),
  minMeanRun: z.number().positive(),
  maxPauseRatio: z.number().min(0).max(1),
});

/** Reading aloud is fluent speech without planning pauses: long runs and few pauses. */
export function seemsScripted(
  { measures, speechSeconds }: Measured,
  params: z.infer<typeof scriptedParams>,
): boolean {
  const run = measures.mean_run?.value;
  const ratio = measures.pause_ratio?.value;
  if (run === undefined || ratio === undefined || speechSeconds < params.minSpeechSeconds) return false;
  return run >= params.minMeanRun && ratio <= params.maxPauseRatio;
}

/** Weight of the logarithm of a measure, standardised and bounded: beyond the bounds clarity does not change with it. */
const timingWeight = z.strictObject({
  mean: z.number(),
  deviation: z.number().positive(),
  weight: z.number(),
});

const params = z.strictObject({
  intervals: z.strictObject({ clarity: intervalParams }),
  /** The recordings whose clarity was rated, as reports name them. */
  clarityRatedOn: z.string().min(1).default('English sentences read aloud by Mandarin speakers'),
  degradations: degradationParams,
  /** Numbers that clarity adds up over utterances. */
  poolingSums: z.int().positive(),
  /** What pauses and rates add to clarity, by measure. */
  clarityTiming: z.record(z.string(), timingWeight),
  /** Bound of `short_speech` and `insufficient_speech_cognitive`. */
  shortSpeechSeconds: z.number().positive(),
  /** Seconds of speech at the reference with which every index is mixed. */
  priorSeconds: z.number().positive(),
  /** A wider interval of an index causes the warning `insufficient_speech_cognitive`. */
  maxIndexInterval: z.number().min(0).max(1),
  /** Bounds of the warning `possibly_scripted`. */
  scripted: scriptedParams,
  /** Bounds of the warning `baseline_other_speaker`. */
  otherSpeaker: speakerParams,
  reference: referenceParams,
  cognitiveLoad: indexWeightsParams,
  processing: indexWeightsParams,
  measures: measuresParams,
  /** Factor of the confidence of scripted speech: its pauses follow the text more than the effort. */
  scriptedConfidence: z.number().min(0).max(1),
});

type CognitiveResult = {
  readonly clarity: number;
  readonly interval: Interval;
  readonly cognitiveLoad: IndexWithInterval;
  readonly processing: IndexWithInterval;
  readonly measures: Measures;
  readonly confidence: number;
  readonly relative: boolean;
  /** The baseline sounds like another speaker. */
  readonly otherSpeaker: boolean;
  readonly shortSpeech: boolean;
  /** Too little speech for the indices: their intervals are wide. */
  readonly insufficient: boolean;
  readonly scripted: boolean;
};

/** Clarity of all utterances so far, and the sums that it follows from. `width`: dimensions of the embeddings. */
type Total = { readonly clarity: number; readonly sums: Float32Array; readonly width: number };

const intervals = z
  .strictObject({
    clarity: intervalSchema.describe('80 % interval of clarity: lower and upper end, 0 to 1.'),
    cognitive_load: intervalSchema.describe('80 % interval of cognitive_load: lower and upper end, 0 to 1.'),
    processing: intervalSchema.describe('80 % interval of processing: lower and upper end, 0 to 1.'),
  })
  .describe(
    'Of clarity: calibrated on speakers whom the head was not fitted on, wider when speech is short or the recording poor. ' +
      'Of the indices: from resampled runs of speech, wider when speech is short.',
  );

const scores = z
  .strictObject({
    cognitive_load: scoreSchema.describe(
      'Index of pausing against the reference recordings, or the baseline, 0 to 1; 0.5 is like them, higher is more effort.',
    ),
    clarity: scoreSchema.describe(
      'Fluency and prosody as experts rate read English, predicted, 0 to 1; higher is clearer. For other speech it was never ' +
        'compared with ratings.',
    ),
    processing: scoreSchema.describe(
      'Index of fluent planning against the same reference, 0 to 1; 0.5 is like it, higher is longer runs and fewer pauses.',
    ),
    confidence: scoreSchema.describe(
      'Share of the indices that this recording supplies (the rest is the reference), times 1 less the width of ' +
        'the interval of clarity; three quarters of that with possibly_scripted. 0 to 1.',
    ),
    intervals,
  })
  .describe('How fluently the person speaks. Indices of timing, not clinical measures.');

const contribution = z
  .strictObject({
    measure: z.string().describe('Name of the measure, as in `measures`.'),
    value: z.number().describe('Value of the measure, in its unit.'),
    effect: z.number().min(-1).max(1).describe('What it adds to the score, -1 to 1.'),
    source: z.string().describe('The study behind the direction.'),
  })
  .describe('What one measure adds to a score.');

const measure = z
  .strictObject({
    value: z.number().describe('The value, in `unit`.'),
    unit: z.string().describe('The unit: s, 1/min, ratio, ...'),
    validated: z
      .literal(false)
      .optional()
      .describe('false: not compared with marked recordings. Absent from other measures.'),
  })
  .describe('One measure of the timing of speech.');

const contributionsOf = (name: string) =>
  z.array(contribution).describe(`What adds up, from \`reference\`, to ${name} as printed.`);

const body = bodySchema(scores, {
  clarity_rated_on: z
    .string()
    .optional()
    .describe(
      'The recordings whose clarity was rated. For other speech (other languages, free speech, whispers, single words) `clarity` ' +
        'was never compared with ratings. Absent from reports of 1.0.0.',
    ),
  measures: z
    .record(z.string(), measure)
    .describe(
      'Timing of speech and pauses by name: pause_ratio, mean_run, articulation_rate, ... Undefined ones are absent.',
    ),
  contributions: z
    .strictObject({
      cognitive_load: contributionsOf('cognitive_load'),
      processing: contributionsOf('processing'),
    })
    .describe('What each index is made of.'),
  reference: scoreSchema.describe(
    'Where both indices start, 0 to 1: a speaker at the reference, or at the baseline, in every measure.',
  ),
  relative: z
    .boolean()
    .describe('Whether baselines of the same speaker were used in place of the reference recordings.'),
});

type CognitiveReport = z.infer<typeof body>;

export const cognitive: SignalDefinition<
  z.infer<typeof params>,
  SpeakerChunk,
  CognitiveResult,
  typeof body,
  Total,
  ProsodyTrack,
  SyllableTotals
> = {
  title: 'cognitive signals',
  inputs: ['tokens', 'weights', 'sums'],
  outputs: ['clarity', 'next_sums'],
  labels: z.null(),
  params,
  usesBaseline: () => true,
  body,
  components: {
    CognitiveSignals: scores,
    CognitiveIntervals: intervals,
    Measure: measure,
    Contribution: contribution,
  },
  columns: [
    { name: 'cognitive_load', field: 'cognitive_load', table: ['LOAD', 5] },
    { name: 'clarity', field: 'clarity', table: ['CLARITY', 7] },
    { name: 'processing', field: 'processing', table: ['PROCESSING', 10] },
    { name: 'cognitive_confidence', field: 'confidence' },
  ],

  prepare: ({ audio }, { trackProsody }) => trackProsody(audio.samples, audio.sampleRate),

  async addTo(total, { embeddings, weights }, { session, manifest }) {
    const { poolingSums } = manifest.params;
    const sums = total?.sums ?? new Float32Array(poolingSums);
    const outputs = await session.run({
      tokens: embeddings,
      weights,
      sums: { data: sums, shape: [1, poolingSums] },
    });
    const clarity = (outputs.clarity as Values).data[0] as number;
    return { clarity, sums: (outputs.next_sums as Values).data, width: embeddings.shape.at(-1) as number };
  },

  async join(totals, head) {
    const [first] = totals as [Total, ...Total[]];
    const sums = first.sums.map((_, index) =>
      totals.reduce((sum, total) => sum + (total.sums[index] as number), 0),
    );
    // An embedding without weight adds nothing.
    const { width } = first;
    const embeddings = { data: new Float32Array(width), shape: [1, 1, width] };
    const weights = { data: new Float32Array(1), shape: [1, 1] };
    return (await this.addTo?.({ ...first, sums }, { embeddings, weights }, head)) as Total;
  },

  async infer({ speech, prepared }) {
    return describeChunk(speech, (await prepared) as ProsodyTrack);
  },

  addSpeech(total, { segments, syllableRate, framesPerSecond }, { manifest: { params } }) {
    return addSyllables(total ?? noSyllables, segments, syllableRate, framesPerSecond, params.measures);
  },

  aggregate(chunks, recording, { manifest: { params } }) {
    const { baselines, conditions, speechSeconds } = recording;
    const syllables = recording.speechTotals?.cognitive as SyllableTotals | undefined;
    const measured = measureSpeaker({ ...recording, chunks, syllables }, params.measures);
    const rested = joinSpeakers(baselines.map((baseline) => measureSpeaker(baseline, params.measures)));
    const clarity = addTiming(
      (recording.totals.cognitive as Total).clarity,
      measured.measures,
      params.clarityTiming,
    );
    const bounds = interval(
      clarity,
      params.intervals.clarity,
      degradationsOf(conditions, params.degradations),
    );
    const scripted = seemsScripted(measured, params.scripted);
    const shortSpeech = speechSeconds < params.shortSpeechSeconds;
    const weights = [params.cognitiveLoad, params.processing];
    const runs = runsOf(recording, params.measures);
    const indices = scoreIndices(weights, measured, runs, { params, baseline: rested });
    const [cognitiveLoad, processing] = indices as [IndexWithInterval, IndexWithInterval];
    const insufficient =
      shortSpeech || indices.some(({ interval: [lower, upper] }) => upper - lower > params.maxIndexInterval);
    return {
      clarity,
      interval: bounds,
      confidence: cognitiveConfidence(measured, params, bounds, scripted),
      cognitiveLoad,
      processing,
      measures: measured.measures,
      relative: rested !== null,
      otherSpeaker: rested !== null && soundsLikeAnother(measured, rested, params.otherSpeaker),
      shortSpeech,
      insufficient,
      scripted,
    };
  },

  report(result, { clarityRatedOn }) {
    return {
      signals: result === null ? {} : signalsOf(result),
      clarity_rated_on: clarityRatedOn,
      measures: result === null ? {} : measuresOf(result.measures),
      contributions: {
        cognitive_load: result === null ? [] : contributionsTo(result.cognitiveLoad),
        processing: result === null ? [] : contributionsTo(result.processing),
      },
      reference: referenceScore,
      relative: result?.relative ?? false,
      warnings: [
        ...(result?.shortSpeech ? (['short_speech'] as const) : []),
        ...(result?.insufficient ? (['insufficient_speech_cognitive'] as const) : []),
        ...(result?.scripted ? (['possibly_scripted'] as const) : []),
        ...(result?.otherSpeaker ? (['baseline_other_speaker'] as const) : []),
      ],
    };
  },

  describe({ signals: { cognitive_load, processing, clarity, intervals }, clarity_rated_on }) {
    const ratedOn = clarity_rated_on === undefined ? '' : `, rated on ${clarity_rated_on}`;
    return [
      ['cognitive load', formatScore('cognitive_load', cognitive_load, intervals.cognitive_load)],
      ['processing', formatScore('processing', processing, intervals.processing)],
      ['clarity', formatScore('clarity', clarity, intervals.clarity) + ratedOn],
    ];
  },

  explain({ contributions, measures, reference }) {
    return Object.entries(contributions).flatMap(([score, parts]) => {
      if (parts.length === 0) return [];
      const lines = parts.map(({ measure, value, effect, source }) => {
        const unit = measures[measure]?.unit ?? '';
        return `- ${measure} ${value} ${unit}: ${effect < 0 ? '' : '+'}${effect} (${source})`;
      });
      return [`${score} is ${reference} plus these effects:\n${lines.join('\n')}`];
    });
  },
};

const maxDeviations = 2;

function addTiming(
  clarity: number,
  measures: Measures,
  weights: Readonly<Record<string, z.infer<typeof timingWeight>>>,
): number {
  const effects = Object.entries(weights).map(([name, { mean, deviation, weight }]) => {
    const value = measures[name]?.value;
    if (value === undefined || value <= 0) return 0;
    const place = (Math.log(value) - mean) / deviation;
    return weight * Math.max(-maxDeviations, Math.min(maxDeviations, place));
  });
  return Math.min(1, Math.max(0, clarity + effects.reduce((sum, effect) => sum + effect, 0)));
}

function signalsOf(result: CognitiveResult): z.infer<typeof scores> {
  return {
    cognitive_load: round(result.cognitiveLoad.score),
    clarity: round(result.clarity),
    processing: round(result.processing.score),
    confidence: round(result.confidence),
    intervals: {
      clarity: roundInterval(result.interval),
      cognitive_load: roundInterval(result.cognitiveLoad.interval),
      processing: roundInterval(result.processing.interval),
    },
  };
}

function measuresOf(measures: Measures): CognitiveReport['measures'] {
  return Object.fromEntries(
    Object.entries(measures).map(([name, measure]) => [name, { ...measure, value: round(measure.value) }]),
  );
}

/** Reference plus effects is the score as printed. */
function contributionsTo({ score, contributions }: Index): CognitiveReport['contributions']['processing'] {
  const effects = roundParts(
    contributions.map(({ effect }) => effect),
    round(score) - referenceScore,
  );
  return contributions.map(({ measure, value, source }, index) => ({
    measure,
    value: round(value),
    effect: effects[index] as number,
    source,
  }));
}

/** Share of the indices that the recording itself supplies, times 1 - the width of clarity's interval. */
export function cognitiveConfidence(
  { speechSeconds }: Measured,
  { priorSeconds, scriptedConfidence }: Pick<z.infer<typeof params>, 'priorSeconds' | 'scriptedConfidence'>,
  [lower, upper]: Interval,
  scripted: boolean,
): number {
  return (
    speechShare(speechSeconds, priorSeconds) * (1 - (upper - lower)) * (scripted ? scriptedConfidence : 1)
  );
}
