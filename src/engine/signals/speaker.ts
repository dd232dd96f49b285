/** What the speech of a speaker measures and sounds like; compares the speakers of a recording and its baseline. */
import { z } from 'zod';
import type { ProsodyTrack } from '../platform.ts';
import { meanBySpeech } from '../quality.ts';
import { clipSegments, type Segment, shift } from '../segments.ts';
import type { SpeechAnalysis } from '../speech.ts';
import {
  addSyllables,
  hesitationParams,
  type Measures,
  measureHesitations,
  measureProsody,
  measureTiming,
  noSyllables,
  type Spoken,
  type SyllableTotals,
  spectralChange,
  timingParams,
} from './measures.ts';

/** Properties by which speakers are compared. */
export type Speaker = {
  /** Orthonormal DCT-II of the mean log-mel spectrum of the speech, without coefficient 0, the gain. */
  readonly cepstrum: readonly number[];
  readonly measures: Measures;
  readonly speechSeconds: number;
};

/** Compared coefficients. */
const cepstrumLength = 20;

export const speakerParams = z.strictObject({
  /** Minimum speech in both recordings for a decision. */
  minSpeechSeconds: z.number().positive(),
  /** Rows of weights for pitch_level and each coefficient of the cepstrum. */
  directions: z.array(z.array(z.number()).length(1 + cepstrumLength)).min(1),
  /** A larger distance means another speaker. */
  threshold: z.number().positive(),
});
type SpeakerParams = z.infer<typeof speakerParams>;

/** The part of a chunk from which its speaker is measured. */
export type SpeakerChunk = {
  readonly speechSeconds: number;
  readonly syllableRate: Float32Array;
  readonly track: ProsodyTrack;
  /** Result of `spectralChange`. */
  readonly change: Float32Array;
  readonly cepstrum: readonly number[];
};

export function describeChunk(
  { features, segments, ...speech }: SpeechAnalysis,
  track: ProsodyTrack,
): SpeakerChunk {
  return {
    speechSeconds: speech.speechSeconds,
    // A view would keep the buffers of the whole chunk.
    syllableRate: speech.syllableRate.slice(),
    track,
    change: spectralChange(features),
    cepstrum: speechCepstrum(features, segments),
  };
}

export const measuresParams = timingParams.extend({
  /** With less voiced speech the measures of prosody are undefined. */
  minVoicedSeconds: z.number().positive(),
  hesitation: hesitationParams,
});

/** Speech of a whole recording. */
export type Span = {
  /** In frames of the recording. */
  readonly segments: readonly Segment[];
  /** Audio that the file lacks, in frames of the recording: no pause. */
  readonly missing: readonly Segment[];
  readonly framesPerSecond: number;
  readonly speechSeconds: number;
};

export type SpeakerRecording = Span & {
  readonly chunks: readonly SpeakerChunk[];
  /** Speech of the other speakers, in order without overlap, in frames of the recording; absent with one speaker. */
  readonly others?: readonly Segment[] | undefined;
  /** Of a stream, which keeps no chunks: it has measures of timing alone. */
  readonly syllables?: SyllableTotals | undefined;
};

export function measureSpeaker(
  { chunks, segments, missing, others, framesPerSecond, speechSeconds, syllables }: SpeakerRecording,
  params: z.infer<typeof measuresParams>,
): Speaker {
  const parts = spokenIn(chunks, segments);
  const totals =
    syllables ??
    parts.reduce(
      (sum, part) => addSyllables(sum, part.segments, part.values.syllableRate, framesPerSecond, params),
      noSyllables,
    );
  const timing = { segments, missing, others, framesPerSecond };
  return {
    measures: {
      ...measureTiming({ ...timing, totals }, params),
      ...measureProsody(parts, framesPerSecond, params),
      ...measureHesitations(parts, timing, { ...params, ...params.hesitation }),
    },
    speechSeconds,
    cepstrum: Array.from({ length: cepstrumLength }, (_, index) =>
      meanBySpeech(chunks, ({ cepstrum }) => cepstrum[index] as number),
    ),
  };
}

/** The chunks, each with the segments that lie in it: those of 12 hours are too large to be joined. */
function spokenIn(
  chunks: readonly SpeakerChunk[],
  segments: readonly Segment[],
): Spoken<ProsodyTrack & Pick<SpeakerChunk, 'syllableRate' | 'change'>>[] {
  let offset = 0;
  return chunks.map(({ track, syllableRate, change }) => {
    const from = offset;
    offset += syllableRate.length;
    const inside = clipSegments(segments, { start: from, end: offset });
    return { values: { ...track, syllableRate, change }, segments: shift(inside, -from) };
  });
}

/** Means of several recordings, weighted by their speech; of a measure over those that have it. Null for none. */
export function joinSpeakers(speakers: readonly Speaker[]): Speaker | null {
  const [first, ...others] = speakers;
  if (first === undefined || others.length === 0) return first ?? null;
  const names = [...new Set(speakers.flatMap(({ measures }) => Object.keys(measures)))];
  const measures = names.map((name) => {
    const measured = speakers.filter((speaker) => speaker.measures[name] !== undefined);
    const value = meanBySpeech(measured, (speaker) => speaker.measures[name]?.value as number);
    return [name, { ...measured[0]?.measures[name], value }];
  });
  return {
    measures: Object.fromEntries(measures),
    speechSeconds: speakers.reduce((sum, { speechSeconds }) => sum + speechSeconds, 0),
    cepstrum: first.cepstrum.map((_, index) =>
      meanBySpeech(speakers, ({ cepstrum }) => cepstrum[index] as number),
    ),
  };
}

type Spectra = { readonly data: Float32Array; readonly bins: number };

/** @param data row-major [frames x bins], logarithmic */
export function speechCepstrum({ data, bins }: Spectra, segments: readonly Segment[]): number[] {
  const mean = new Float64Array(bins);
  let frames = 0;
  for (const { start, end } of segments) {
    frames += end - start;
    for (let row = start * bins; row < end * bins; row += bins) {
      for (let bin = 0; bin < bins; bin++) mean[bin] = (mean[bin] as number) + (data[row + bin] as number);
    }
  }
  return Array.from({ length: cepstrumLength }, (_, index) => {
    const step = (Math.PI * (index + 1)) / bins;
    const sum = mean.reduce((total, value, bin) => total + value * Math.cos(step * (bin + 0.5)), 0);
    return (sum * Math.sqrt(2 / bins)) / Math.max(1, frames);
  });
}

/** Squared length of the projected difference of pitch and cepstrum; null without a pitch. */
function speakerDistance(one: Speaker, other: Speaker, { directions }: SpeakerParams): number | null {
  const first = one.measures.pitch_level?.value;
  const second = other.measures.pitch_level?.value;
  if (first === undefined || second === undefined) return null;
  const apart = [first - second, ...one.cepstrum.map((value, index) => value - (other.cepstrum[index] ?? 0))];
  return directions.reduce((total, weights) => {
    const along = weights.reduce((sum, weight, index) => sum + weight * (apart[index] ?? 0), 0);
    return total + along ** 2;
  }, 0);
}

export function soundsLikeAnother(one: Speaker, other: Speaker, params: SpeakerParams): boolean {
  if (Math.min(one.speechSeconds, other.speechSeconds) < params.minSpeechSeconds) return false;
  const distance = speakerDistance(one, other, params);
  return distance !== null && distance > params.threshold;
}
