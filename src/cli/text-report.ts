/** A report as a few lines for a person. */
import type { Report } from '../index.ts';

type Range = readonly [number, number];

export function describeReport(path: string, { audio, emotion, cognitive }: Report): string {
  const warnings = new Set([...(emotion?.warnings ?? []), ...(cognitive?.warnings ?? [])]);
  const lines = [
    path,
    `  ${audio.speech_s.toFixed(1)} s of speech in ${audio.duration_s.toFixed(1)} s, ${audio.container} ${audio.codec}`,
    ...(emotion === undefined ? [] : describeEmotion(emotion)),
    ...(cognitive === undefined ? [] : describeCognitive(cognitive)),
    ...(warnings.size === 0 ? [] : [`  warnings: ${[...warnings].join(', ')}`]),
  ];
  return lines.join('\n');
}

function describeEmotion({ signals, status }: NonNullable<Report['emotion']>): string[] {
  if (!('valence' in signals)) return [`  emotion: ${status}`];
  const { valence, arousal, intervals, dominant_emotion, confidence, tone } = signals;
  return [
    `  emotion         ${dominant_emotion} (${confidence.toFixed(2)}), tone ${tone}`,
    `  valence         ${withRange(valence, intervals.valence)}`,
    `  arousal         ${withRange(arousal, intervals.arousal)}`,
  ];
}

function describeCognitive({ signals, status }: NonNullable<Report['cognitive']>): string[] {
  if (!('clarity' in signals)) return [`  cognitive: ${status}`];
  return [
    `  cognitive load  ${signals.cognitive_load.toFixed(2)}`,
    `  processing      ${signals.processing.toFixed(2)}`,
    `  clarity         ${withRange(signals.clarity, signals.intervals.clarity)}`,
  ];
}

function withRange(score: number, [lower, upper]: Range): string {
  return `${score.toFixed(2)}  (${lower.toFixed(2)} to ${upper.toFixed(2)})`;
}
