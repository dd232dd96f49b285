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
  /** Weight of a squared semitone of pitch_level, and of the squared coefficients of the cepstrum. */
  readonly pitch: number;
  readonly cepstrum: readonly number[];
  /** A distance above it warns. */
  readonly threshold: number;
};

type Spectra = { readonly data: Float32Array; readonly bins: number };

/** @param data row-major [frames x bins], logarithmic */
export function speechCepstrum(
  { data, bins }: Spectra,
  segments: readonly Segment[],
  count: number,
): number[] {
  const mean = new Float64Array(bins);
  let frames = 0;
  for (const { start, end } of segments) {
    frames += end - start;
    for (let at = start * bins; at < end * bins; at++) {
      mean[at % bins] = (mean[at % bins] as number) + (data[at] as number);
    }
  }
  return Array.from({ length: count }, (_, index) => {
    const step = (Math.PI * (index + 1)) / bins;
    const sum = mean.reduce((total, value, bin) => total + value * Math.cos(step * (bin + 0.5)), 0);
    return (sum * Math.sqrt(2 / bins)) / Math.max(1, frames);
  });
}

/** Sum of the weighted squared differences; a pitch that one recording lacks is left out. */
export function speakerDistance(one: Speaker, other: Speaker, rule: SpeakerRule): number {
  const pitches = [one, other].map(({ measures }) => measures.pitch_level?.value);
  const [first, second] = pitches;
  const apart = first === undefined || second === undefined ? 0 : first - second;
  return rule.cepstrum.reduce(
    (sum, weight, index) => {
      const difference = (one.cepstrum[index] as number) - (other.cepstrum[index] as number);
      return sum + weight * difference ** 2;
    },
    rule.pitch * apart ** 2,
  );
}

export function soundsLikeAnother(one: Speaker, other: Speaker, rule: SpeakerRule): boolean {
  if (Math.min(one.speechSeconds, other.speechSeconds) < rule.minSpeechSeconds) return false;
  return speakerDistance(one, other, rule) > rule.threshold;
}
