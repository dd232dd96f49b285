/** Measures of speech: timing, pitch and level, hesitations. Undefined measures are absent. */
import { z } from 'zod';
import { quantile } from '../arrays.ts';
import type { ProsodyTrack } from '../platform.ts';
import { countFrames, type Segment } from '../segments.ts';

// Timing of speech and pauses.

/** `validated` is false for a measure that no marked recordings confirm. */
type Measure = { readonly value: number; readonly unit: string; readonly validated?: false };
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

/** Speech of a speaker, in frames. */
type Turns = {
  readonly segments: readonly Segment[];
  /** Speech of the other speakers, in order without overlap; absent with one speaker. */
  readonly others?: readonly Segment[] | undefined;
  /** Missing audio, in order without overlap. */
  readonly missing?: readonly Segment[] | undefined;
  readonly framesPerSecond: number;
};

type Timing = Turns & {
  readonly totals: SyllableTotals;
};

export const timingParams = z.strictObject({
  longPauseSeconds: z.number().positive(),
  /** A gap with so much speech of others is a change of turns. */
  minTurnSeconds: z.number().positive(),
  /** The variability of the syllable rate is measured over windows of speech of this length. */
  rateWindowSeconds: z.number().positive(),
  minRateWindows: z.int().positive(),
});
type TimingParams = z.infer<typeof timingParams>;

/**
 * Leading and trailing silence does not count. Pauses are the gaps between segments: at least `minPauseSeconds` of the
 * VAD model. A gap in which another speaker takes the turn is none (Sacks, Schegloff & Jefferson 1974), nor is one with
 * missing audio.
 */
export function measureTiming(timing: Timing, params: TimingParams): Measures {
  const { segments } = timing;
  if (segments.length === 0) return {};
  const { pauses, pause, speech, minutes } = spokenTime(timing, params);
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

type TurnParams = Pick<TimingParams, 'minTurnSeconds'>;

/** A stretch of speech and the pause after it, s; 0 where another speaker takes the turn or audio is missing, and after the last. */
export type Run = { readonly speech: number; readonly pause: number };

export function runsOf(
  { segments, others = [], missing = [], framesPerSecond }: Turns,
  { minTurnSeconds }: TurnParams,
): Run[] {
  const spoken = createOverlapMeter(others);
  const lost = createOverlapMeter(missing);
  return segments.map(({ start, end: from }, index) => {
    const to = segments[index + 1]?.start ?? from;
    const isTurn = spoken(from, to) >= minTurnSeconds * framesPerSecond;
    const isPause = lost(from, to) === 0 && !isTurn;
    return { speech: (from - start) / framesPerSecond, pause: isPause ? (to - from) / framesPerSecond : 0 };
  });
}

/** @param spans in order @returns the frames of them between `from` and `to`: calls come in order */
function createOverlapMeter(spans: readonly Segment[]): (from: number, to: number) => number {
  let next = 0;
  return (from, to) => {
    let frames = 0;
    while ((spans[next]?.end ?? Number.POSITIVE_INFINITY) <= from) next++;
    for (let at = next; (spans[at]?.start ?? Number.POSITIVE_INFINITY) < to; at++) {
      const span = spans[at] as Segment;
      frames += Math.min(span.end, to) - Math.max(span.start, from);
    }
    return frames;
  };
}

/** Seconds of speech, and of the pauses inside turns. */
function spokenTime(turns: Turns, params: TurnParams) {
  const pauses = runsOf(turns, params).flatMap(({ pause }) => (pause > 0 ? [pause] : []));
  const pause = pauses.reduce((sum, seconds) => sum + seconds, 0);
  const speech = countFrames(turns.segments) / turns.framesPerSecond;
  return { pauses, pause, speech, minutes: (speech + pause) / 60 };
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

// Pitch, level and spectral tilt of the voiced speech.

const trackFramesPerSecond = 100;
/** Origin of the semitone scale, as in eGeMAPS (Eyben et al. 2016). */
const semitoneZeroHz = 27.5;

/** What was measured of a part of a recording, and the speech in it, in its frames. */
export type Spoken<Values> = { readonly values: Values; readonly segments: readonly Segment[] };

/**
 * Over the voiced frames of the segments: median pitch, its range and the level's from the 10th to the 90th
 * percentile, mean tilt.
 */
export function measureProsody(
  parts: readonly Spoken<ProsodyTrack>[],
  framesPerSecond: number,
  { minVoicedSeconds }: { readonly minVoicedSeconds: number },
): Measures {
  const ratio = trackFramesPerSecond / framesPerSecond;
  let count = 0;
  eachVoiced(parts, ratio, () => count++);
  if (count < minVoicedSeconds * trackFramesPerSecond) return {};
  const semitones = new Float64Array(count);
  const levels = new Float64Array(count);
  let [at, tilt] = [0, 0];
  eachVoiced(parts, ratio, ({ pitchHz, levelDb, tiltDb }, frame) => {
    semitones[at] = 12 * Math.log2((pitchHz[frame] as number) / semitoneZeroHz);
    levels[at++] = levelDb[frame] as number;
    tilt += tiltDb[frame] as number;
  });
  semitones.sort();
  return {
    pitch_level: { value: quantile(semitones, 0.5), unit: 'semitones re 27.5 Hz' },
    pitch_range: { value: spreadOf(semitones), unit: 'semitones' },
    level_range: { value: spreadOf(levels.sort()), unit: 'dB' },
    spectral_tilt: { value: tilt / count, unit: 'dB/octave' },
  };
}

function eachVoiced(
  parts: readonly Spoken<ProsodyTrack>[],
  ratio: number,
  visit: (track: ProsodyTrack, frame: number) => void,
): void {
  for (const { values, segments } of parts) {
    for (const { start, end } of segments) {
      const last = Math.min(values.pitchHz.length, Math.round(end * ratio));
      for (let frame = Math.round(start * ratio); frame < last; frame++) {
        if ((values.pitchHz[frame] as number) > 0) visit(values, frame);
      }
    }
  }
}

function spreadOf(sorted: Float64Array): number {
  return quantile(sorted, 0.9) - quantile(sorted, 0.1);
}

// Filled pauses and lengthenings: voiced speech whose pitch, spectrum and syllable rate stand still. Not validated: there are
// too few marked ones in public recordings.

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
  parts: readonly Spoken<Track>[],
  timing: Turns,
  params: HesitationParams & TurnParams,
): Measures {
  if (timing.segments.length === 0) return {};
  const shortest = Math.ceil(params.minSeconds * timing.framesPerSecond);
  let count = 0;
  for (const { values, segments } of parts) {
    for (const { start, end } of segments) {
      let steady = 0;
      for (let frame = start; frame < end; frame++) {
        steady = isSteady(values, frame, params) ? steady + 1 : 0;
        if (steady === shortest) count++;
      }
    }
  }
  const { minutes } = spokenTime(timing, params);
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
