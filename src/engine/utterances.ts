/**
 * Runs of speech -> utterances -> embeddings; the trunk reads an utterance alone. Once half a second has followed an
 * utterance, or its length has ended it, it keeps its bounds.
 */
import { z } from 'zod';
import { joinArrays } from './arrays.ts';
import type { FeatureSpec, Platform, Session, Tensor, Values } from './platform.ts';
import { clipSegments, countFrames, type Segment } from './segments.ts';
import { type DetectedSpeech, type FrameBlock, leadFrames, type SpeechAnalysis } from './speech.ts';

/** Speech of an utterance. */
export const minSeconds = 0.5;
/** A run of less than `minSeconds` belongs to the nearest utterance within this distance. */
export const maxGapSeconds = 1;
/** A cut of long speech is the middle of the span of this length with the least speech. */
const dipSeconds = 0.1;
/** A multiple of the frames per embedding of every shipped trunk. A window may begin up to so many frames before its context. */
export const gridFrames = 4;

export const trunkParams = z.strictObject({
  /** Longest input of the trunk. */
  windowSeconds: z.number().positive(),
  framesPerToken: z.int().positive(),
  /** Context before and after an utterance. */
  marginSeconds: z.number().nonnegative(),
});
type TrunkParams = z.infer<typeof trunkParams>;
export type UtteranceParams = Pick<TrunkParams, 'windowSeconds' | 'marginSeconds'>;

/** A span of speech, in frames, and the part of the recording that the trunk may read for it. */
export type SpeechWindow = Segment & { readonly window: Segment };

export type Utterance = SpeechWindow & {
  readonly speechFrames: number;
  /** What ended it: a pause, its length, or the end of the samples. */
  readonly cause: 'pause' | 'length' | 'end';
};

type Detected = Pick<SpeechAnalysis, 'segments' | 'speechProbability' | 'framesPerSecond'>;

/**
 * An utterance is a run of speech between pauses. A run of less than 0.5 s is joined with the next run within 1 s, unless
 * an utterance that has ended is nearer: it then belongs to that one, which it cannot change, and is not scored.
 * Speech that does not fit into a window is cut where the speech probability is lowest.
 * @param bounds spans that utterances do not cross and in which their windows lie
 * @param previousEnd of the utterance before the frames
 */
export function cutUtterances(
  detected: Detected,
  params: UtteranceParams,
  bounds: readonly Segment[],
  previousEnd = Number.NEGATIVE_INFINITY,
): Utterance[] {
  return bounds.flatMap((span) => {
    const groups = groupRuns(clipSegments(detected.segments, span), detected.framesPerSecond, previousEnd);
    return groups.flatMap((group) => cutGroup(group, detected, params, span));
  });
}

/** Whether what follows the frames, `now` of them, cannot change the utterance. */
export function hasEnded({ end, cause }: Utterance, now: number, minPause: number): boolean {
  return cause === 'length' || now - end >= minPause;
}

function groupRuns(runs: readonly Segment[], framesPerSecond: number, previousEnd: number): Segment[][] {
  const minFrames = minSeconds * framesPerSecond;
  const maxGap = maxGapSeconds * framesPerSecond;
  const groups: Segment[][] = [];
  let open: Segment[] = [];
  for (const run of runs) {
    const gap = run.start - (open.at(-1)?.end ?? Number.NEGATIVE_INFINITY);
    const sinceLast = (open[0]?.start ?? 0) - (groups.at(-1)?.at(-1)?.end ?? previousEnd);
    open = gap <= Math.min(maxGap, sinceLast) ? [...open, run] : [run];
    if (countFrames(open) < minFrames) continue;
    groups.push(open);
    open = [];
  }
  return groups;
}

function cutGroup(
  runs: readonly Segment[],
  { speechProbability, framesPerSecond }: Detected,
  { windowSeconds, marginSeconds }: UtteranceParams,
  bounds: Segment,
): Utterance[] {
  const margin = Math.round(marginSeconds * framesPerSecond);
  const maxFrames = windowSeconds * framesPerSecond - 2 * margin - gridFrames;
  const last = runs.at(-1) as Segment;
  const now = Math.min(bounds.end, speechProbability.length);
  const utterances: Utterance[] = [];
  let start = (runs[0] as Segment).start;
  let from = Math.max(bounds.start, start - margin - gridFrames);
  const add = (end: number, to: number, cause: Utterance['cause']) => {
    const speechFrames = countFrames(clipSegments(runs, { start, end }));
    utterances.push({ start, end, window: { start: from, end: to }, speechFrames, cause });
  };
  while (last.end - start > maxFrames) {
    const within = { start: start + maxFrames / 2, end: start + maxFrames - minSeconds * framesPerSecond };
    const end = findDip(speechProbability, within, dipSeconds * framesPerSecond);
    add(end, end, 'length');
    [start, from] = [end, end];
  }
  add(last.end, Math.min(bounds.end, last.end + margin), last.end < now ? 'pause' : 'end');
  return utterances;
}

/** All runs of a recording without an utterance, up to what the trunk reads. Null without speech. */
export function cutRuns(
  { segments, framesPerSecond }: Pick<Detected, 'segments' | 'framesPerSecond'>,
  { windowSeconds, marginSeconds }: UtteranceParams,
): (Segment & { readonly runs: readonly SpeechWindow[]; readonly speechFrames: number }) | null {
  const margin = Math.round(marginSeconds * framesPerSecond);
  const runs: SpeechWindow[] = [];
  for (const run of segments) {
    const earliest = runs.at(-1)?.window.end ?? Number.NEGATIVE_INFINITY;
    const window = { start: Math.max(run.start - margin - gridFrames, earliest), end: run.end + margin };
    const windows = [...runs.map((before) => before.window), window];
    if (countFrames(windows) > windowSeconds * framesPerSecond) break;
    runs.push({ ...run, window });
  }
  const [first, last] = [runs[0], runs.at(-1)];
  if (first === undefined || last === undefined) return null;
  return { start: first.start, end: last.end, runs, speechFrames: countFrames(runs) };
}

/** Middle of the `length` frames with the least sum of `speech`, inside `within`. */
function findDip(speech: Float32Array, within: Segment, length: number): number {
  let sum = 0;
  let least = Number.POSITIVE_INFINITY;
  let best = within.end;
  for (let frame = within.start; frame < within.end; frame++) {
    sum += speech[frame] as number;
    if (frame - within.start >= length) sum -= speech[frame - length] as number;
    if (frame - within.start >= length - 1 && sum < least) {
      least = sum;
      best = frame + 1 - Math.floor(length / 2);
    }
  }
  return best;
}

type Recorded = Pick<DetectedSpeech, 'audio' | 'speechProbability'>;

/** Frames that the trunk reads, row by row. */
export type Rows = Pick<FrameBlock, 'speechProbability'> & {
  /** The frame of the recording that is nearest to the first row. */
  readonly start: number;
  readonly data: Float32Array;
  readonly bins: number;
  /** Of the same frames; null when the trunk does not read them. */
  readonly filterbanks: Float32Array | null;
  /** Those of the same time; null when the trunk does not read them. */
  readonly samples: Float32Array | null;
};

/** What makes features of samples. */
type Extractor = {
  readonly features: FeatureSpec;
  /** Null when the trunk does not read them. */
  readonly filterbanks: FeatureSpec | null;
  readonly readsSamples: boolean;
  readonly platform: Pick<Platform, 'extract' | 'temporalCentroid' | 'release'>;
};

/**
 * The rows of the windows, one after another. The first frame of a window is a multiple of `gridFrames` frames away from the
 * temporal centroid of its speech, so that equal sounds have equal frames wherever they stand in a recording. Silence precedes and
 * follows the recording.
 */
export function framesOf(speech: Recorded, windows: readonly SpeechWindow[], extractor: Extractor): Rows {
  const parts = windows.map((window) => readWindow(speech, window, extractor));
  return {
    start: parts[0]?.start ?? 0,
    data: joinArrays(parts.map(({ data }) => data)),
    bins: extractor.features.nMels,
    filterbanks:
      extractor.filterbanks && joinArrays(parts.map(({ filterbanks }) => filterbanks as Float32Array)),
    samples: extractor.readsSamples ? joinArrays(parts.map(({ samples }) => samples as Float32Array)) : null,
    speechProbability: joinArrays(parts.map(({ speechProbability }) => speechProbability)),
  };
}

function readWindow(
  { audio: { samples }, speechProbability }: Recorded,
  { start, end, window }: SpeechWindow,
  { features, filterbanks, readsSamples, platform }: Extractor,
): Rows {
  const { hopLength } = features;
  const grid = gridFrames * hopLength;
  const earliest = window.start * hopLength;
  const centroid =
    start * hopLength + platform.temporalCentroid(samples.subarray(start * hopLength, end * hopLength));
  const first = earliest + ((((centroid - earliest) % grid) + grid) % grid);
  const count = Math.floor((window.end * hopLength - first) / hopLength);
  const context = leadFrames * hopLength;
  const read = padded(samples, first - context, first + count * hopLength + context);
  const nearest = Math.round(first / hopLength);
  const rowsBy = (spec: FeatureSpec): Float32Array => {
    const { data, bins } = platform.extract(read, spec);
    return data.subarray(leadFrames * bins, (leadFrames + count) * bins);
  };
  const rows = { data: rowsBy(features), filterbanks: filterbanks && rowsBy(filterbanks) };
  if (read.buffer !== samples.buffer) platform.release(read);
  const from = Math.floor(first);
  return {
    ...rows,
    samples: readsSamples ? padded(samples, from, from + count * hopLength) : null,
    start: nearest,
    bins: features.nMels,
    speechProbability: padded(speechProbability, nearest, nearest + count),
  };
}

/** Values from `start` to `end`; zeros outside of them. */
function padded(values: Float32Array, start: number, end: number): Float32Array {
  if (start >= 0 && end <= values.length) return values.subarray(start, end);
  const inside = values.subarray(Math.max(0, start), end);
  const filled = new Float32Array(end - start);
  filled.set(inside, Math.max(0, -start));
  return filled;
}

export type Encoded = {
  /** [1 x embeddings x dimensions]. */
  readonly embeddings: Values;
  /** Speech probability per embedding, [1 x embeddings]. */
  readonly weights: Values;
};

/** What the voices of windows are read from; null when the trunk has no such output. */
export type VoiceFrames = { readonly frames: Tensor | null };

/** The trunk, as loaded. */
type Trunk = {
  readonly session: Session;
  readonly manifest: { readonly params: Pick<TrunkParams, 'framesPerToken'> };
};

/** One pass of the trunk. */
export async function encode(
  { data, bins, filterbanks, samples, speechProbability }: Rows,
  { session, manifest }: Trunk,
): Promise<Encoded & VoiceFrames> {
  const frames = data.length / bins;
  const shaped = (values: Float32Array): Values => ({
    data: values,
    shape: [1, frames, values.length / frames],
  });
  const outputs = await session.run({
    ...(session.inputs.includes('features') && { features: shaped(data) }),
    ...(filterbanks && { filterbanks: shaped(filterbanks) }),
    ...(samples && { samples: { data: samples, shape: [1, samples.length] } }),
  });
  const weights = speechWeights(speechProbability, manifest.params.framesPerToken);
  return { embeddings: outputs.tokens as Values, weights, frames: outputs.frames ?? null };
}

/** Speech probability of each embedding: the mean over its frames. */
function speechWeights(speech: Float32Array, framesPerEmbedding: number): Values {
  const count = Math.ceil(speech.length / framesPerEmbedding);
  const weights = new Float32Array(count);
  for (let index = 0; index < count; index++) {
    const from = index * framesPerEmbedding;
    const to = Math.min(speech.length, from + framesPerEmbedding);
    let sum = 0;
    for (let frame = from; frame < to; frame++) sum += speech[frame] as number;
    weights[index] = sum / (to - from);
  }
  return { data: weights, shape: [1, count] };
}
