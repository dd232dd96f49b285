/** Pitch, level and spectral tilt of the voiced speech. Undefined measures are absent. */
import type { ProsodyTrack } from '../platform.ts';
import type { Segment } from '../segments.ts';
import type { Measures } from './measures.ts';

const trackFramesPerSecond = 100;
/** Origin of the semitone scale, as in eGeMAPS (Eyben et al. 2016). */
const semitoneZeroHz = 27.5;

/**
 * Over the voiced frames of the segments: median pitch, its range and the level's from the 10th to the 90th
 * percentile, mean tilt.
 */
export function measureProsody(
  { pitchHz, levelDb, tiltDb }: ProsodyTrack,
  segments: readonly Segment[],
  framesPerSecond: number,
  { minVoicedSeconds }: { readonly minVoicedSeconds: number },
): Measures {
  const voiced = voicedFrames(pitchHz, segments, trackFramesPerSecond / framesPerSecond);
  if (voiced.length < minVoicedSeconds * trackFramesPerSecond) return {};
  const of = (values: Float32Array) => Float64Array.from(voiced, (frame) => values[frame] as number);
  const semitones = of(pitchHz).map((hertz) => 12 * Math.log2(hertz / semitoneZeroHz));
  const tilts = of(tiltDb);
  return {
    pitch_level: { value: quantile(semitones, 0.5), unit: 'semitones re 27.5 Hz' },
    pitch_range: { value: spreadOf(semitones), unit: 'semitones' },
    level_range: { value: spreadOf(of(levelDb)), unit: 'dB' },
    spectral_tilt: { value: tilts.reduce((sum, tilt) => sum + tilt, 0) / tilts.length, unit: 'dB/octave' },
  };
}

function voicedFrames(pitchHz: Float32Array, segments: readonly Segment[], ratio: number): number[] {
  const voiced: number[] = [];
  for (const { start, end } of segments) {
    const last = Math.min(pitchHz.length, Math.round(end * ratio));
    for (let frame = Math.round(start * ratio); frame < last; frame++) {
      if ((pitchHz[frame] as number) > 0) voiced.push(frame);
    }
  }
  return voiced;
}

function spreadOf(values: Float64Array): number {
  return quantile(values, 0.9) - quantile(values, 0.1);
}

/** Linear interpolation, the default of numpy.quantile. */
function quantile(values: Float64Array, share: number): number {
  const sorted = values.slice().sort();
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] as number;
  const above = sorted[Math.ceil(place)] as number;
  return below + (place - Math.floor(place)) * (above - below);
}
