/** A long timeline in equal parts of time: what fits the width of a page. */
import { tickSteps } from './axis.ts';
import type { Emotion } from './report.ts';

type Utterance = Emotion['timeline'][number];

export type Part = {
  readonly start_s: number;
  readonly end_s: number;
  /** The emotion with the most speech, and its share of the speech of the part; null without speech. */
  readonly emotion: { readonly name: string; readonly share: number } | null;
};

const maxParts = 40;

/** More utterances are shown as parts. */
export const maxUtterances = 24;

export function partsOf(timeline: readonly Utterance[], duration: number): Part[] {
  const size = tickSteps.find((step) => duration / step <= maxParts) ?? duration / maxParts;
  return Array.from({ length: Math.ceil(duration / size) }, (_, index) => {
    const [start_s, end_s] = [index * size, Math.min(duration, (index + 1) * size)];
    return { start_s, end_s, emotion: mostOf(speechByEmotion(timeline, start_s, end_s)) };
  });
}

/** Seconds of speech by emotion, most first. */
export function speechByEmotion(
  timeline: readonly Utterance[],
  from: number,
  to: number,
): readonly (readonly [name: string, seconds: number])[] {
  const sums = new Map<string, number>();
  for (const { start_s, end_s, dominant_emotion } of timeline) {
    const seconds = Math.min(end_s, to) - Math.max(start_s, from);
    if (seconds > 0) sums.set(dominant_emotion, (sums.get(dominant_emotion) ?? 0) + seconds);
  }
  return [...sums].sort(([, a], [, b]) => b - a);
}

function mostOf(sums: ReturnType<typeof speechByEmotion>): Part['emotion'] {
  const [first] = sums;
  if (first === undefined) return null;
  const total = sums.reduce((sum, [, seconds]) => sum + seconds, 0);
  return { name: first[0], share: first[1] / total };
}
