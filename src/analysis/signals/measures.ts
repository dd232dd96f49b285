/** Timing of speech and pauses. Undefined measures are absent. */
import { z } from 'zod';
import type { Segment } from '../segments.ts';

/** `validated` is false for a measure that no marked recordings confirm. */
export type Measure = { readonly value: number; readonly unit: string; readonly validated?: false };
export type Measures = Readonly<Record<string, Measure>>;

/** Syllables of the speech so far, small enough to carry through a stream. */
export type SyllableTotals = {
  readonly syllables: number;
  /** Mean rate of each whole window of speech, pauses excluded. */
  readonly rates: readonly number[];
  /** The window that is not full. */
  readonly sum: number;
  readonly frames: number;
};

export const noSyllables: SyllableTotals = { syllables: 0, rates: [], sum: 0, frames: 0 };

type Timing = {
  readonly segments: readonly Segment[];
  readonly totals: SyllableTotals;
  readonly framesPerSecond: number;
};

export const timingParams = z.strictObject({
  longPauseSeconds: z.number().positive(),
  /** The variability of the syllable rate is measured over windows of speech of this length. */
  rateWindowSeconds: z.number().positive(),
  minRateWindows: z.int().positive(),
});
type TimingParams = z.infer<typeof timingParams>;

/**
 * Leading and trailing silence does not count. Pauses are the gaps between segments: at least `minPauseSeconds` of the
 * VAD model.
 */
export function measureTiming(timing: Timing, params: TimingParams): Measures {
  const { segments, framesPerSecond } = timing;
  if (segments.length === 0) return {};
  const pauses = pauseSeconds(segments, framesPerSecond);
  const speech = segments.reduce((sum, { start, end }) => sum + end - start, 0) / framesPerSecond;
  const pause = pauses.reduce((sum, seconds) => sum + seconds, 0);
  const minutes = (speech + pause) / 60;
  const { syllables } = timing.totals;
  const runs = segments.length;
  const { pause_ratio, mean_run } = measureRuns({ speech, pause, runs });
  return {
    pause_ratio,
    pause_rate: { value: pauses.length / minutes, unit: '1/min' },
    ...(pauses.length > 0 && { mean_pause: { value: pause / pauses.length, unit: 's' } }),
    long_pause_rate: {
      value: pauses.filter((seconds) => seconds >= params.longPauseSeconds).length / minutes,
      unit: '1/min',
    },
    mean_run,
    mean_run_syllables: { value: syllables / runs, unit: 'syllables' },
    articulation_rate: { value: syllables / speech, unit: 'syllables/s' },
    speech_rate: { value: syllables / (speech + pause), unit: 'syllables/s' },
    ...rateVariability(timing.totals, params),
  };
}

/** @param totals seconds of speech, seconds of pauses, number of runs */
export function measureRuns({ speech, pause, runs }: Readonly<Record<'speech' | 'pause' | 'runs', number>>) {
  return {
    pause_ratio: { value: pause / (speech + pause), unit: 'ratio' },
    mean_run: { value: speech / runs, unit: 's' },
  };
}

function pauseSeconds(segments: readonly Segment[], framesPerSecond: number): number[] {
  const pauses: number[] = [];
  for (let index = 1; index < segments.length; index++) {
    const gap = (segments[index] as Segment).start - (segments[index - 1] as Segment).end;
    pauses.push(gap / framesPerSecond);
  }
  return pauses;
}

/** @param syllableRate syllables per second, one value per frame */
export function addSyllables(
  totals: SyllableTotals,
  segments: readonly Segment[],
  syllableRate: Float32Array,
  framesPerSecond: number,
  { rateWindowSeconds }: Pick<TimingParams, 'rateWindowSeconds'>,
): SyllableTotals {
  const windowFrames = rateWindowSeconds * framesPerSecond;
  const rates = [...totals.rates];
  let { syllables, sum, frames } = totals;
  for (const { start, end } of segments) {
    for (let frame = start; frame < end; frame++) {
      const rate = syllableRate[frame] as number;
      syllables += rate / framesPerSecond;
      sum += rate;
      if (++frames < windowFrames) continue;
      rates.push(sum / windowFrames);
      [sum, frames] = [0, 0];
    }
  }
  return { syllables, rates, sum, frames };
}

/** Coefficient of variation of the syllable rate over whole windows of speech, pauses excluded. */
function rateVariability({ rates }: SyllableTotals, { minRateWindows }: TimingParams): Measures {
  const mean = rates.reduce((total, rate) => total + rate, 0) / rates.length;
  if (rates.length < minRateWindows || mean <= 0) return {};
  const variance = rates.reduce((total, rate) => total + (rate - mean) ** 2, 0) / rates.length;
  return { rate_variability: { value: Math.sqrt(variance) / mean, unit: 'ratio' } };
}
