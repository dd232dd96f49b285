/** From an analysis to its report. With report-fields.ts the only place that knows response field names and rounding. */
import type { Analysis, CognitiveResult, EmotionResult, Signal } from './analysis.ts';
import type {
  CognitiveReport,
  CognitiveSignals,
  CombinedReport,
  EmotionReport,
  EmotionSignals,
} from './report-fields.ts';
import { type Index, referenceScore } from './signals/indices.ts';
import type { Interval } from './signals/intervals.ts';
import type { Measures } from './signals/measures.ts';
import { toneOf } from './signals/tone.ts';

export {
  type CognitiveReport,
  type CombinedReport,
  cognitiveReportSchema,
  combinedReportSchema,
  type EmotionReport,
  emotionReportSchema,
} from './report-fields.ts';

const scale = 10_000;

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
      ...(result?.shortSpeech ? (['short_speech'] as const) : []),
      ...(result?.lowConfidence ? (['low_confidence'] as const) : []),
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
    warnings: [
      ...analysis.warnings,
      ...(result?.shortSpeech ? (['short_speech'] as const) : []),
      ...(result?.scripted ? (['possibly_scripted'] as const) : []),
      ...(result?.otherSpeaker ? (['baseline_other_speaker'] as const) : []),
    ],
    model: modelBlock(analysis, 'cognitive'),
  };
}

function statusOf({ insufficientSpeech }: Analysis): 'ok' | 'insufficient_speech' {
  return insufficientSpeech ? 'insufficient_speech' : 'ok';
}

function emotionBlock(result: EmotionResult): EmotionSignals {
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

function cognitiveBlock(result: CognitiveResult): CognitiveSignals {
  return {
    cognitive_load: round(result.cognitiveLoad.score),
    clarity: round(result.clarity),
    processing: round(result.processing.score),
    confidence: round(result.confidence),
    intervals: { clarity: roundInterval(result.intervals.clarity) },
  };
}

function measuresBlock(measures: Measures): CognitiveReport['measures'] {
  return Object.fromEntries(
    Object.entries(measures).map(([name, { value, unit }]) => [name, { value: round(value), unit }]),
  );
}

/** Reference plus effects is the score as printed: the rounding remainder goes to the largest effect. */
function effectsOf({ score: exact, contributions }: Index): CognitiveReport['contributions']['processing'] {
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

function audioBlock({ audio }: Analysis): EmotionReport['audio'] {
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

/** As numbers stand in reports. */
export function round(value: number): number {
  return roundTo(value, scale);
}

function roundTo(value: number, steps: number): number {
  return Math.round(value * steps) / steps + 0;
}

function roundInterval([lower, upper]: Interval): [number, number] {
  return [Math.floor(lower * scale) / scale, Math.ceil(upper * scale) / scale];
}
