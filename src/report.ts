/** The only place that knows response field names and rounding. */
import { z } from 'zod';
import type { Analysis, CognitiveResult, EmotionResult, Signal } from './analysis.ts';
import { type Index, referenceScore } from './signals/indices.ts';
import type { Interval } from './signals/intervals.ts';
import type { Measures } from './signals/measures.ts';
import { toneOf } from './signals/tone.ts';

const scale = 10_000;
const score = z.number().min(0).max(1);
const intervalSchema = z.tuple([score, score]);
const seconds = z.number().min(0);

const audioSchema = z.strictObject({
  duration_s: seconds,
  speech_s: seconds,
  container: z.string(),
  codec: z.string(),
  sample_rate_hz: z.int().positive(),
  channels: z.int().positive(),
  snr_db: z.number().nullable(),
  level_dbfs: z.number(),
  clipped_ratio: score,
  bandwidth_hz: z.number().min(0),
});

const reportShape = {
  status: z.enum(['ok', 'insufficient_speech']),
  warnings: z.array(z.string()),
  model: z.strictObject({ name: z.string(), version: z.string(), features_version: z.int() }),
};

const emotionSignals = z.strictObject({
  valence: score,
  arousal: score,
  dominant_emotion: z.string(),
  tone: z.string(),
  emotions: z.record(z.string(), score),
  confidence: score,
  intervals: z.strictObject({ valence: intervalSchema, arousal: intervalSchema }),
});

const cognitiveSignals = z.strictObject({
  cognitive_load: score,
  clarity: score,
  processing: score,
  confidence: score,
  intervals: z.strictObject({ clarity: intervalSchema }),
});

const contributionSchema = z.strictObject({
  measure: z.string(),
  value: z.number(),
  effect: z.number(),
  source: z.string(),
});

const contributionsSchema = z.array(contributionSchema);

const emotionBody = {
  ...reportShape,
  signals: z.union([emotionSignals, z.strictObject({})]),
  timeline: z.array(
    z.strictObject({
      start_s: seconds,
      end_s: seconds,
      valence: score,
      arousal: score,
      dominant_emotion: z.string(),
      confidence: score,
    }),
  ),
};

const cognitiveBody = {
  ...reportShape,
  signals: z.union([cognitiveSignals, z.strictObject({})]),
  measures: z.record(z.string(), z.strictObject({ value: z.number(), unit: z.string() })),
  contributions: z.strictObject({ cognitive_load: contributionsSchema, processing: contributionsSchema }),
  /** Where both indices start: a speaker at the reference, or at the baseline, in every measure. */
  reference: score,
  timeline: z.array(z.strictObject({ start_s: seconds, end_s: seconds, clarity: score })),
  relative: z.boolean(),
};

const envelope = { audio: audioSchema, request_id: z.string() };

export const emotionReportSchema = z.strictObject({ ...emotionBody, ...envelope });
export const cognitiveReportSchema = z.strictObject({ ...cognitiveBody, ...envelope });
export const combinedReportSchema = z.strictObject({
  status: reportShape.status,
  emotion: z.strictObject(emotionBody),
  cognitive: z.strictObject(cognitiveBody),
  ...envelope,
});

export type EmotionReport = z.infer<typeof emotionReportSchema>;
export type CognitiveReport = z.infer<typeof cognitiveReportSchema>;
export type CombinedReport = z.infer<typeof combinedReportSchema>;

export function emotionReport(analysis: Analysis, requestId: string): EmotionReport {
  return { ...emotionPart(analysis), audio: audioBlock(analysis), request_id: requestId };
}

export function cognitiveReport(analysis: Analysis, requestId: string): CognitiveReport {
  return { ...cognitivePart(analysis), audio: audioBlock(analysis), request_id: requestId };
}

export function combinedReport(analysis: Analysis, requestId: string): CombinedReport {
  const emotion = emotionPart(analysis);
  const cognitive = cognitivePart(analysis);
  const status = emotion.status === 'ok' ? cognitive.status : emotion.status;
  return { status, emotion, cognitive, audio: audioBlock(analysis), request_id: requestId };
}

function emotionPart(analysis: Analysis): Omit<EmotionReport, 'audio' | 'request_id'> {
  const result = analysis.emotion;
  return {
    status: statusOf(analysis),
    signals: result === null ? {} : emotionBlock(result),
    timeline: result === null ? [] : emotionTimeline(result),
    warnings: [
      ...analysis.warnings,
      ...(result?.shortSpeech ? ['short_speech'] : []),
      ...(result?.lowConfidence ? ['low_confidence'] : []),
    ],
    model: modelBlock(analysis, 'emotion'),
  };
}

function cognitivePart(analysis: Analysis): Omit<CognitiveReport, 'audio' | 'request_id'> {
  const result = analysis.cognitive;
  return {
    status: statusOf(analysis),
    signals: result === null ? {} : cognitiveBlock(result),
    measures: result === null ? {} : measuresBlock(result.measures),
    contributions: {
      cognitive_load: result === null ? [] : effectsOf(result.cognitiveLoad),
      processing: result === null ? [] : effectsOf(result.processing),
    },
    reference: referenceScore,
    timeline:
      result?.timeline.map(({ start, end, clarity }) => ({
        start_s: round(start),
        end_s: round(end),
        clarity: round(clarity),
      })) ?? [],
    relative: result?.relative ?? false,
    warnings: [...analysis.warnings, ...(result?.shortSpeech ? ['short_speech'] : [])],
    model: modelBlock(analysis, 'cognitive'),
  };
}

function statusOf({ insufficientSpeech }: Analysis): 'ok' | 'insufficient_speech' {
  return insufficientSpeech ? 'insufficient_speech' : 'ok';
}

function emotionBlock(result: EmotionResult): z.infer<typeof emotionSignals> {
  const top = topOf(result.probabilities);
  const shares = roundShares(result.probabilities);
  return {
    valence: round(result.valence),
    arousal: round(result.arousal),
    dominant_emotion: result.labels[top] as string,
    tone: toneOf(result.valence, result.arousal),
    emotions: Object.fromEntries(result.labels.map((label, index) => [label, shares[index] as number])),
    confidence: shares[top] as number,
    intervals: {
      valence: roundInterval(result.intervals.valence),
      arousal: roundInterval(result.intervals.arousal),
    },
  };
}

function emotionTimeline({ labels, timeline }: EmotionResult): EmotionReport['timeline'] {
  return timeline.map(({ start, end, valence, arousal, probabilities }) => {
    const top = topOf(probabilities);
    return {
      start_s: round(start),
      end_s: round(end),
      valence: round(valence),
      arousal: round(arousal),
      dominant_emotion: labels[top] as string,
      confidence: round(probabilities[top] as number),
    };
  });
}

function cognitiveBlock(result: CognitiveResult): z.infer<typeof cognitiveSignals> {
  const [lower, upper] = result.intervals.clarity;
  return {
    cognitive_load: round(result.cognitiveLoad.score),
    clarity: round(result.clarity),
    processing: round(result.processing.score),
    confidence: round(1 - (upper - lower)),
    intervals: { clarity: roundInterval(result.intervals.clarity) },
  };
}

function measuresBlock(measures: Measures): CognitiveReport['measures'] {
  return Object.fromEntries(
    Object.entries(measures).map(([name, { value, unit }]) => [name, { value: round(value), unit }]),
  );
}

/** Reference plus effects is the score as printed: the rounding remainder goes to the largest effect. */
function effectsOf({ score: exact, contributions }: Index): z.infer<typeof contributionsSchema> {
  const effects = contributions.map(({ effect }) => Math.round(effect * scale));
  spreadRemainder(effects, Math.round(exact * scale) - Math.round(referenceScore * scale));
  return contributions.map(({ measure, value, source }, index) => ({
    measure,
    value: round(value),
    effect: (effects[index] as number) / scale,
    source,
  }));
}

/** Shares that add up to exactly 1 as printed. */
function roundShares(shares: readonly number[]): number[] {
  const rounded = shares.map((share) => Math.round(share * scale));
  spreadRemainder(rounded, scale);
  return rounded.map((share) => share / scale);
}

function spreadRemainder(parts: number[], target: number): void {
  const largest = topOf(parts.map(Math.abs));
  const sum = parts.reduce((total, part) => total + part, 0);
  if (parts.length > 0) parts[largest] = (parts[largest] as number) + target - sum;
}

function topOf(values: readonly number[]): number {
  return values.reduce((top, value, index) => (value > (values[top] as number) ? index : top), 0);
}

function audioBlock({ audio }: Analysis): z.infer<typeof audioSchema> {
  return {
    duration_s: round(audio.seconds),
    speech_s: round(audio.speechSeconds),
    container: audio.source.container,
    codec: audio.source.codec,
    sample_rate_hz: audio.source.sampleRate,
    channels: audio.source.channels,
    snr_db: audio.snrDb === null ? null : roundTo(audio.snrDb, 10),
    level_dbfs: roundTo(audio.levelDbfs, 10),
    clipped_ratio: round(audio.source.clippedRatio),
    bandwidth_hz: Math.round(audio.bandwidthHz),
  };
}

function modelBlock({ models }: Analysis, signal: Signal): EmotionReport['model'] {
  const { name, version, featuresVersion } = models[signal];
  return { name, version, features_version: featuresVersion };
}

function round(value: number): number {
  return roundTo(value, scale);
}

function roundTo(value: number, steps: number): number {
  return Math.round(value * steps) / steps + 0;
}

function roundInterval([lower, upper]: Interval): [number, number] {
  return [Math.floor(lower * scale) / scale, Math.ceil(upper * scale) / scale];
}
