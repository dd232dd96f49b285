/** Whether a baseline sounds like another speaker than the recording. */
import type { Measures } from './measures.ts';
import type { Segment } from './segments.ts';

/** What is compared of a voice. */
export type Speaker = {
  /** Orthonormal DCT-II of the mean log mel spectrum of the speech, from coefficient 1 on: gain does not matter. */
  readonly cepstrum: readonly number[];
  readonly measures: Measures;
  readonly speechSeconds: number;
};

export type SpeakerRule = {
  /** With less speech in either recording nothing is said. */
  readonly minSpeechSeconds: number;
  /** Rows of weights for pitch_level and each coefficient of the cepstrum. */
  readonly directions: readonly (readonly number[])[];
  /** A distance above it warns. */
  readonly threshold: number;
};

type Spectra = { readonly data: Float32Array; readonly bins: number };

/** Coefficients of the cepstrum that are compared. */
export const cepstrumLength = 20;

/** @param data row-major [frames x bins], logarithmic */
export function speechCepstrum({ data, bins }: Spectra, segments: readonly Segment[]): number[] {
  const mean = new Float64Array(bins);
  let frames = 0;
  for (const { start, end } of segments) {
    frames += end - start;
    for (let at = start * bins; at < end * bins; at++) {
      mean[at % bins] = (mean[at % bins] as number) + (data[at] as number);
    }
  }
  return Array.from({ length: cepstrumLength }, (_, index) => {
    const step = (Math.PI * (index + 1)) / bins;
    const sum = mean.reduce((total, value, bin) => total + value * Math.cos(step * (bin + 0.5)), 0);
    return (sum * Math.sqrt(2 / bins)) / Math.max(1, frames);
  });
}

/** Squared length of the difference of pitch and cepstrum along the directions; null when a pitch is absent. */
export function speakerDistance(one: Speaker, other: Speaker, { directions }: SpeakerRule): number | null {
  const first = one.measures.pitch_level?.value;
  const second = other.measures.pitch_level?.value;
  if (first === undefined || second === undefined) return null;
  const apart = [first - second, ...one.cepstrum.map((value, index) => value - (other.cepstrum[index] ?? 0))];
  return directions.reduce((total, weights) => {
    const along = weights.reduce((sum, weight, index) => sum + weight * (apart[index] ?? 0), 0);
    return total + along ** 2;
  }, 0);
}

export function soundsLikeAnother(one: Speaker, other: Speaker, rule: SpeakerRule): boolean {
  if (Math.min(one.speechSeconds, other.speechSeconds) < rule.minSpeechSeconds) return false;
  const distance = speakerDistance(one, other, rule);
  return distance !== null && distance > rule.threshold;
}
