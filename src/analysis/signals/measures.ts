/** Timing of speech and pauses: what is measured, in which unit. Undefined measures are absent. */
import type { Segment } from '../segments.ts';

export type Measure = { readonly value: number; readonly unit: string };
export type Measures = Readonly<Record<string, Measure>>;

type Timing = {
  readonly segments: readonly Segment[];
  /** Syllables a second, one value a frame. */
  readonly syllableRate: Float32Array;
  readonly framesPerSecond: number;
};

const longPauseSeconds = 1;
/** Speech is cut into pieces of this length to see how steady its rate is. */
const windowSeconds = 1;
const minWindows = 3;

/**
 * Leading and trailing silence never counts. Pauses are the gaps between segments, which the rule of
 * the VAD model keeps at 0.25 s or more.
 */
export function measureTiming(timing: Timing): Measures {
  const { segments, framesPerSecond } = timing;
  if (segments.length === 0) return {};
  const pauses = pauseSeconds(segments, framesPerSecond);
  const speech = segments.reduce((sum, { start, end }) => sum + end - start, 0) / framesPerSecond;
  const pause = pauses.reduce((sum, seconds) => sum + seconds, 0);
  const minutes = (speech + pause) / 60;
  const syllables = countSyllables(timing);
  const runs = segments.length;
  return {
    pause_ratio: { value: pause / (speech + pause), unit: 'ratio' },
    pause_rate: { value: pauses.length / minutes, unit: '1/min' },
    ...(pauses.length > 0 && { mean_pause: { value: pause / pauses.length, unit: 's' } }),
    long_pause_rate: {
      value: pauses.filter((seconds) => seconds >= longPauseSeconds).length / minutes,
      unit: '1/min',
    },
    mean_run: { value: speech / runs, unit: 's' },
    mean_run_syllables: { value: syllables / runs, unit: 'syllables' },
    articulation_rate: { value: syllables / speech, unit: 'syllables/s' },
    speech_rate: { value: syllables / (speech + pause), unit: 'syllables/s' },
    ...rateVariability(timing),
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

function countSyllables({ segments, syllableRate, framesPerSecond }: Timing): number {
  let sum = 0;
  for (const { start, end } of segments) {
    for (let frame = start; frame < end; frame++) sum += syllableRate[frame] as number;
  }
  return sum / framesPerSecond;
}

/** Coefficient of variation of the syllable rate over whole one-second pieces of speech, pauses cut out. */
function rateVariability({ segments, syllableRate, framesPerSecond }: Timing): Measures {
  const pieceFrames = windowSeconds * framesPerSecond;
  const rates: number[] = [];
  let sum = 0;
  let filled = 0;
  for (const { start, end } of segments) {
    for (let frame = start; frame < end; frame++) {
      sum += syllableRate[frame] as number;
      if (++filled < pieceFrames) continue;
      rates.push(sum / pieceFrames);
      sum = 0;
      filled = 0;
    }
  }
  const mean = rates.reduce((total, rate) => total + rate, 0) / rates.length;
  if (rates.length < minWindows || mean <= 0) return {};
  const variance = rates.reduce((total, rate) => total + (rate - mean) ** 2, 0) / rates.length;
  return { rate_variability: { value: Math.sqrt(variance) / mean, unit: 'ratio' } };
}
