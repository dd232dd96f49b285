/** Frames -> probability of speech -> segments. */

import { z } from 'zod';
import { joinArrays } from './arrays.ts';
import type { Execution } from './execution.ts';
import type {
  Audio,
  FeatureSpec,
  Features,
  Hops,
  Platform,
  Session,
  StreamFilterOptions,
  Values,
} from './platform.ts';
import { countFrames, joinGaps, type Segment } from './segments.ts';

/** Mono samples of a recording or a chunk. */
type AudioBuffer = Pick<Audio, 'samples' | 'sampleRate'>;

/** Values of the same frames. */
export type FrameBlock = {
  /** Speech probability per frame, 0 to 1. */
  readonly speechProbability: Float32Array;
  /** Syllables per second, one value per frame. */
  readonly syllableRate: Float32Array;
  /** Log odds per frame that speech is speech and no other sound. */
  readonly voiceLogOdds: Float32Array;
} & Hops;

export const detectionParams = z.strictObject({
  /** Speech probability that starts a segment, and the lower one that ends it. */
  onset: z.number().min(0).max(1),
  offset: z.number().min(0).max(1),
  minSpeechSeconds: z.number().positive(),
  minPauseSeconds: z.number().positive(),
  stream: z.strictObject({
    /** Numbers in the inputs and outputs `state` and `next_state`. */
    stateSize: z.int().positive(),
    /** Frames of digital silence after which a state of zeros is that of endless silence. */
    settleFrames: z.int().positive(),
    /** Outputs are those of so many frames before the inputs. */
    lookaheadFrames: z.int().nonnegative(),
  }),
});

/** The VAD model, as loaded. */
type Vad = {
  readonly session: Session;
  readonly manifest: { readonly params: z.infer<typeof detectionParams> };
};
/** `silence`: the features of a frame of digital silence. */
type VadModels = {
  readonly vad: Vad;
  readonly silence: Float32Array;
  readonly platform: Pick<Platform, 'release'>;
};
/** What detects speech in samples. */
type Detector = VadModels & {
  readonly filter: StreamFilterOptions;
  readonly features: FeatureSpec;
  readonly platform: Pick<Platform, 'extract' | 'filterStream' | 'release'>;
};

export type DetectedSpeech = FrameBlock & {
  readonly audio: AudioBuffer;
  readonly segments: readonly Segment[];
  readonly framesPerSecond: number;
  readonly speechSeconds: number;
};

export type SpeechAnalysis = DetectedSpeech & { readonly features: Features };

/** Frames that the VAD model has not decided: their rows, and hops, some of which have no row yet. */
type Undecided = Hops & { readonly rows: Float32Array };

/** What a stream needs of its past: structured-clonable, some 100 kB. */
export type DetectorState = {
  /** Of the filter. */
  readonly filter: Float64Array;
  /** Samples that frames to come still read, the first of them at a multiple of the hop. */
  readonly samples: Float32Array;
  /** Frames that were extracted. */
  readonly extracted: number;
  readonly undecided: Undecided;
  /** The last of the undecided frames, fewer than two, which the VAD model has not read. */
  readonly unread: number;
  readonly vad: Float32Array;
};

const none = new Float32Array(0);

export function initialDetectorState({ silentVad }: { readonly silentVad: Float32Array }): DetectorState {
  const undecided = { rows: none, power: none, clipped: none };
  const filter = new Float64Array(0);
  return { filter, samples: none, extracted: 0, undecided, unread: 0, vad: silentVad };
}

/** Frames before the next one whose samples are kept: the window of a frame reaches back 200 samples. */
export const leadFrames = 2;

/**
 * Filters the samples, in place. Returns the frames that they decide: the VAD model looks ahead, so that the last ones stay
 * undecided until more samples, or the end, have come. How samples are cut into blocks changes no frame.
 * @param isLast no samples follow
 */
export async function detectFrames(
  state: DetectorState,
  block: Float32Array,
  isLast: boolean,
  models: Detector,
  execution: Execution,
): Promise<{ readonly state: DetectorState; readonly frames: FrameBlock; readonly features: Features }> {
  const bins = models.silence.length;
  const { state: filter, ...hops } = models.platform.filterStream(block, state.filter, models.filter);
  const { fresh, ...extracted } = extractNext(state, block, isLast, models);
  execution.endStage('features');
  const rows = joinArrays([state.undecided.rows, fresh]);
  if (rows !== fresh) models.platform.release(fresh);
  const power = joinArrays([state.undecided.power, hops.power]);
  const clipped = joinArrays([state.undecided.clipped, hops.clipped]);
  const { lookaheadFrames } = models.vad.manifest.params.stream;
  const count = state.unread + extracted.extracted - state.extracted;
  // The model reads pairs of frames. Silence follows the end.
  const isOdd = count % 2;
  const read = isLast ? count + lookaheadFrames + isOdd : count - isOdd;
  const frames = Math.max(0, rows.length / bins - (isLast ? 0 : lookaheadFrames + isOdd));
  const outputs = await runVad(rows.subarray(rows.length - count * bins), read, state.vad, models);
  execution.endStage('vad');
  // Outputs of frames before the start and after the end of the recording are left out.
  const end = read - (isLast ? isOdd : 0);
  const decided = (values: Float32Array) => values.subarray(end - frames, end);
  return {
    state: {
      ...extracted,
      filter,
      undecided: {
        rows: rows.slice(frames * bins),
        power: power.slice(frames),
        clipped: clipped.slice(frames),
      },
      unread: isLast ? 0 : isOdd,
      vad: outputs.next_state,
    },
    frames: {
      speechProbability: decided(outputs.speech),
      syllableRate: decided(outputs.syllable_rate),
      voiceLogOdds: decided(outputs.voice),
      power: power.subarray(0, frames),
      clipped: clipped.subarray(0, frames),
    },
    features: { data: rows.subarray(0, frames * bins), frames, bins },
  };
}

/** The state of the VAD model after endless silence. */
export async function settleVad(models: VadModels): Promise<Float32Array> {
  const { settleFrames, stateSize } = models.vad.manifest.params.stream;
  return (await runVad(none, settleFrames, new Float32Array(stateSize), models)).next_state;
}

/** @param read frames that the model reads: those of `rows`, then silence */
async function runVad(rows: Float32Array, read: number, state: Float32Array, models: VadModels) {
  const { vad, silence, platform } = models;
  if (read === 0) return { speech: none, syllable_rate: none, voice: none, next_state: state };
  const bins = silence.length;
  const data = new Float32Array(read * bins);
  data.set(rows.subarray(0, data.length));
  for (let at = rows.length; at < data.length; at += bins) data.set(silence, at);
  const outputs = await vad.session.run({
    features: { data, shape: [1, read, bins] },
    state: { data: state, shape: [1, state.length] },
  });
  platform.release(data);
  const valuesOf = (name: string) => (outputs[name] as Values).data;
  return {
    speech: valuesOf('speech'),
    syllable_rate: valuesOf('syllable_rate'),
    voice: valuesOf('voice'),
    next_state: valuesOf('next_state'),
  };
}

/** Frames whose windows are complete. */
function extractNext(state: DetectorState, block: Float32Array, isLast: boolean, models: Detector) {
  const { hopLength, winLength } = models.features;
  const bins = models.silence.length;
  const samples = joinArrays([state.samples, block]);
  const first = Math.max(0, state.extracted - leadFrames);
  const complete = isLast
    ? Math.floor(samples.length / hopLength)
    : Math.max(0, Math.floor((samples.length - winLength / 2) / hopLength) + 1);
  const extracted = Math.max(state.extracted, first + complete);
  const skipped = state.extracted - first;
  const count = extracted - state.extracted;
  const rows = count === 0 ? none : models.platform.extract(samples, models.features).data;
  const kept = samples.slice((Math.max(0, extracted - leadFrames) - first) * hopLength);
  if (samples !== block && samples !== state.samples) models.platform.release(samples);
  return {
    fresh: rows.subarray(skipped * bins, (skipped + count) * bins),
    extracted,
    samples: kept,
  };
}

/** Frames of all blocks, in order; null has none. */
export function joinFrames(blocks: readonly (FrameBlock | null)[]): FrameBlock {
  const join = (values: (block: FrameBlock) => Float32Array) =>
    joinArrays(blocks.flatMap((block) => (block === null ? [] : [values(block)])));
  return {
    speechProbability: join((block) => block.speechProbability),
    syllableRate: join((block) => block.syllableRate),
    voiceLogOdds: join((block) => block.voiceLogOdds),
    power: join((block) => block.power),
    clipped: join((block) => block.clipped),
  };
}

/** Copies of the frames from `start` to `end`. */
export function sliceFrames(block: FrameBlock, start: number, end?: number): FrameBlock {
  return {
    speechProbability: block.speechProbability.slice(start, end),
    syllableRate: block.syllableRate.slice(start, end),
    voiceLogOdds: block.voiceLogOdds.slice(start, end),
    power: block.power.slice(start, end),
    clipped: block.clipped.slice(start, end),
  };
}

export function analyzeSpeech(
  audio: AudioBuffer,
  block: FrameBlock,
  { features, vad }: Pick<Detector, 'features' | 'vad'>,
): DetectedSpeech {
  const framesPerSecond = features.sampleRate / features.hopLength;
  const segments = findSegments(block.speechProbability, framesPerSecond, vad.manifest.params);
  return {
    ...block,
    audio,
    segments,
    framesPerSecond,
    speechSeconds: countFrames(segments) / framesPerSecond,
  };
}

/** Start and end of each segment in seconds, flat. */
export function segmentSeconds({
  segments,
  framesPerSecond,
}: Pick<SpeechAnalysis, 'segments' | 'framesPerSecond'>): Float64Array {
  return Float64Array.from(
    segments.flatMap(({ start, end }) => [start / framesPerSecond, end / framesPerSecond]),
  );
}

type SegmentParams = {
  /** Speech probability that starts a segment, and the lower one that ends it. */
  readonly onset: number;
  readonly offset: number;
  readonly minSpeechSeconds: number;
  readonly minPauseSeconds: number;
};

/**
 * Hysteresis: a segment opens at `onset` and closes below `offset`. Gaps under `minPauseSeconds` are
 * speech; segments under `minSpeechSeconds` are not.
 * @param speech probability in [0, 1] of each frame
 */
export function findSegments(
  speech: Float32Array,
  framesPerSecond: number,
  params: SegmentParams,
): Segment[] {
  const raw = hysteresis(speech, params.onset, params.offset);
  const joined = joinGaps(raw, params.minPauseSeconds * framesPerSecond);
  return joined.filter((segment) => segment.end - segment.start >= params.minSpeechSeconds * framesPerSecond);
}

function hysteresis(speech: Float32Array, onset: number, offset: number): Segment[] {
  const segments: Segment[] = [];
  let start = -1;
  for (let frame = 0; frame < speech.length; frame++) {
    const probability = speech[frame] as number;
    if (start < 0 && probability >= onset) start = frame;
    else if (start >= 0 && probability < offset) {
      segments.push({ start, end: frame });
      start = -1;
    }
  }
  if (start >= 0) segments.push({ start, end: speech.length });
  return segments;
}
