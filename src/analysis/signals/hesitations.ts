/**
 * Filled pauses and lengthenings: voiced speech whose pitch, spectrum and syllable rate stand still. Not validated: there are
 * too few marked ones in public recordings.
 */
import { z } from 'zod';
import type { Segment } from '../segments.ts';
import type { Measures } from './measures.ts';

/** Frames over which change is measured. */
const lag = 3;

export const hesitationParams = z.strictObject({
  minSeconds: z.number().positive(),
  /** Mean change of the log-mel bands over 30 ms, in log10 of energy. */
  maxSpectralChange: z.number().positive(),
  /** Change of pitch over 30 ms, in semitones. */
  maxPitchChange: z.number().positive(),
  /** Syllables per second. */
  maxSyllableRate: z.number().positive(),
});
type HesitationParams = z.infer<typeof hesitationParams>;

type Track = {
  /** 0 without a pitch. */
  readonly pitchHz: Float32Array;
  readonly syllableRate: Float32Array;
  /** Result of `spectralChange`. */
  readonly change: Float32Array;
};

/**
 * Mean absolute difference of each frame to the one `lag` before; infinite for the first ones.
 * @param data row-major [frames x bins], logarithmic
 */
export function spectralChange({
  data,
  bins,
}: {
  readonly data: Float32Array;
  readonly bins: number;
}): Float32Array {
  const change = new Float32Array(data.length / bins).fill(Number.POSITIVE_INFINITY);
  for (let frame = lag; frame < change.length; frame++) {
    let sum = 0;
    for (let at = frame * bins; at < (frame + 1) * bins; at++) {
      sum += Math.abs((data[at] as number) - (data[at - lag * bins] as number));
    }
    change[frame] = sum / bins;
  }
  return change;
}

/** Hesitations per minute of speech and pauses. */
export function measureHesitations(
  track: Track,
  segments: readonly Segment[],
  framesPerSecond: number,
  params: HesitationParams,
): Measures {
  const [first, last] = [segments[0], segments.at(-1)];
  if (first === undefined || last === undefined) return {};
  const shortest = params.minSeconds * framesPerSecond;
  let count = 0;
  for (const { start, end } of segments) {
    let steady = 0;
    for (let frame = start; frame < end; frame++) {
      steady = isSteady(track, frame, params) ? steady + 1 : 0;
      if (steady === Math.ceil(shortest)) count++;
    }
  }
  const minutes = (last.end - first.start) / framesPerSecond / 60;
  return { hesitation_rate: { value: count / minutes, unit: '1/min', validated: false } };
}

function isSteady(
  { pitchHz, syllableRate, change }: Track,
  frame: number,
  params: HesitationParams,
): boolean {
  const [before, now] = [pitchHz[frame - lag] ?? 0, pitchHz[frame] ?? 0];
  if (before === 0 || now === 0) return false;
  return (
    Math.abs(12 * Math.log2(now / before)) < params.maxPitchChange &&
    (change[frame] as number) < params.maxSpectralChange &&
    (syllableRate[frame] as number) < params.maxSyllableRate
  );
}
