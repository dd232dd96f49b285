/** Utterances that are too close on the time axis to be drawn one by one. */
import type { Emotion, Span } from './report.ts';

type Utterance = Emotion['timeline'][number];
type Interval = readonly [low: number, high: number];
type AffectScore = { readonly value: number; readonly interval: Interval | null };

/** What is drawn at one place of the time axis: an utterance, or several. */
export type Bin = Span & {
  readonly utterances: readonly Utterance[];
  readonly isMoment: boolean;
};

/**
 * Joins neighbours while they last no longer than `minSeconds` together. A moment is never joined.
 * @param timeline in order of time
 */
export function createBins(
  timeline: readonly Utterance[],
  isMoment: (utterance: Utterance) => boolean,
  minSeconds: number,
): readonly Bin[] {
  const bins: Bin[] = [];
  for (const utterance of timeline) {
    const { start_s, end_s } = utterance;
    const last = bins.at(-1);
    const single = { start_s, end_s, utterances: [utterance], isMoment: isMoment(utterance) };
    const isJoined =
      last !== undefined && !last.isMoment && !single.isMoment && end_s - last.start_s <= minSeconds;
    if (isJoined) bins[bins.length - 1] = { ...last, end_s, utterances: [...last.utterances, utterance] };
    else bins.push(single);
  }
  return bins;
}

/** The mean of a value over the utterances, weighted by their lengths. */
export function meanOf(utterances: readonly Utterance[], scoreOf: (utterance: Utterance) => number): number {
  const seconds = utterances.reduce((sum, { start_s, end_s }) => sum + end_s - start_s, 0);
  const sum = utterances.reduce((sum, one) => sum + (one.end_s - one.start_s) * scoreOf(one), 0);
  return sum / seconds;
}

/** The mean, and around it the widest interval of the utterances; null without a value. */
export function affectOf({ utterances }: Bin, name: 'valence' | 'arousal'): AffectScore | null {
  const valued = utterances.filter((one) => one[name] !== null);
  if (valued.length === 0) return null;
  const value = meanOf(valued, (one) => one[name] ?? 0);
  const margins = valued.flatMap((one): Interval[] => {
    const interval = one.intervals?.[name];
    const score = one[name] ?? 0;
    return interval == null ? [] : [[score - interval[0], interval[1] - score]];
  });
  if (margins.length === 0) return { value, interval: null };
  const [below, above] = [0, 1].map((side) => Math.max(...margins.map((margin) => margin[side] ?? 0)));
  return { value, interval: [Math.max(0, value - (below ?? 0)), Math.min(1, value + (above ?? 0))] };
}
