/** A recording as chunks, decoded and cut at pauses, and their speech. A recording up to `chunkSeconds` is one chunk. */

import { joinArrays } from './arrays.ts';
import { type Execution, stoppedMessage } from './execution.ts';
import { describeGaps, type Gap, toGapFrames } from './gaps.ts';
import type { Models } from './loader.ts';
import type { AnalyzeOptions } from './options.ts';
import {
  type DecodeLimits,
  type DecodeOptions,
  EngineError,
  type IncrementalDecoder,
  isAudioError,
  type Platform,
} from './platform.ts';
import { lacksNoise } from './quality.ts';
import { type Segment, shift, unbounded } from './segments.ts';
import {
  analyzeSpeech,
  type DetectedSpeech,
  detectFrames,
  type FrameBlock,
  initialDetectorState,
  joinFrames,
  type SpeechAnalysis,
  sliceFrames,
} from './speech.ts';
import { cutUtterances, hasEnded, maxGapSeconds } from './utterances.ts';

export type Chunking = {
  /** Longest chunk: bounds the memory of an analysis. */
  readonly chunkSeconds: number;
  /** A chunk may end this much earlier, in its last pause. */
  readonly maxCutSeconds: number;
};

export const defaultChunking: Chunking = { chunkSeconds: 180, maxCutSeconds: 60 };

/** About the samples that are decoded between two yields. */
const blockSeconds = 10;

/** A chunk is decoded in blocks of equal length. */
function blocksOf({ chunkSeconds }: Chunking): number {
  return Math.ceil(chunkSeconds / blockSeconds);
}

export type UploadPart = 'audio' | 'baseline';

/** What every recording of a request is decoded and analysed with. */
export type Context = {
  readonly models: Models;
  readonly limits: DecodeLimits;
  readonly chunking: Chunking;
};

type Selection = Pick<AnalyzeOptions, 'channel' | 'track' | 'channels' | 'declared'> &
  Pick<DecodeOptions, 'cancel'>;

/**
 * One decoder, or one per channel. Their functions throw EngineErrors that name the part of the upload.
 * @param part the part of `bytes`
 */
export function openDecoders(
  part: UploadPart,
  bytes: Uint8Array,
  { channel, channels, track, declared, cancel }: Selection,
  { models, limits, chunking }: Context,
): readonly IncrementalDecoder[] {
  const { platform, features } = models;
  const shared = { sampleRate: features.sampleRate, track, limits, cancel };
  const maxSamples = Math.round((chunking.chunkSeconds * shared.sampleRate) / blocksOf(chunking));
  const selector = channels === null ? 'channel' : 'channels';
  const decoders = toEngineErrors(part, { selector, declared }, () =>
    channels === null
      ? [platform.openIncrementalDecoder(bytes, { ...shared, channel }, maxSamples)]
      : platform.openChannelDecoders(bytes, shared, maxSamples),
  );
  return decoders.map((decoder) => ({
    ...decoder,
    next: () => toEngineErrors(part, { selector, declared }, decoder.next),
  }));
}

/** @param selector the part of the upload that chooses channels */
function toEngineErrors<Result>(
  part: UploadPart,
  { selector, declared }: { readonly selector: 'channel' | 'channels' } & Pick<AnalyzeOptions, 'declared'>,
  work: () => Result,
): Result {
  try {
    return work();
  } catch (error) {
    if (!isAudioError(error)) throw error;
    switch (error.code) {
      case 'deadline':
      case 'cancelled':
        throw new EngineError('stopped', null, stoppedMessage);
      case 'bad_argument':
      case 'internal':
        throw error;
      case 'channel':
        throw new EngineError('channel', selector, error.reason);
      case 'unknown':
        throw new EngineError(
          'unsupported',
          part,
          declared === undefined ? error.reason : `Expected an audio file, got ${declared}`,
        );
      case 'track':
        throw new EngineError('track', 'track', error.reason);
      default: {
        throw new EngineError(error.code, part, error.reason);
      }
    }
  }
}

export type SpeechChunk = {
  /** Of one speaker, when the caller names several. */
  readonly speech: SpeechAnalysis;
  /** All speech: what is outside is noise. */
  readonly allSegments: readonly Segment[];
  /** Spans that utterances do not cross: silence replaces missing context only at the ends of the recording. */
  readonly bounds: readonly Segment[];
  /** Gaps of the file inside the chunk that may be missing audio. */
  readonly gaps: readonly Gap[];
  /** Whether gaps left no noise in the pauses. */
  readonly lacksNoise: boolean;
  /** End of the last utterance before the chunk, in frames of the chunk. */
  readonly previousEnd: number;
  readonly isWhole: boolean;
};

/** Returns the next chunk, or null after the last. */
export type ChunkDetector = () => Promise<(SpeechChunk & { readonly isLast: boolean }) | null>;

/** Chunks end in pauses between utterances, or where one is cut. Frames after the cut belong to the next chunk. */
export function detectChunks(
  decoder: IncrementalDecoder,
  { models, chunking }: Pick<Context, 'models' | 'chunking'>,
  execution: Execution,
): ChunkDetector {
  const { hopLength, sampleRate } = models.features;
  const framesPerSecond = sampleRate / hopLength;
  const bins = models.silence.length;
  let state = initialDetectorState(models);
  let samples: Float32Array = new Float32Array(0);
  let frames: FrameBlock | null = null;
  let rows: Float32Array = new Float32Array(0);
  /** That end after the chunks so far, in frames of the next one. */
  let gaps: Segment[] = [];
  let position = 0;

  /** Appends the samples of a chunk and their frames, or all to the end. */
  async function read(): Promise<void> {
    const blocks: Float32Array[] = [samples];
    const frameBlocks = [frames];
    const rowBlocks: Float32Array[] = [rows];
    for (let count = 0; count < blocksOf(chunking) && decoder.source() === null; count++) {
      const block = decoder.next();
      execution.endStage('decode');
      gaps.push(...shift(toGapFrames(decoder.gaps(), framesPerSecond), -position));
      const detected = await detectFrames(state, block, decoder.source() !== null, models, execution);
      state = detected.state;
      blocks.push(block);
      frameBlocks.push(detected.frames);
      rowBlocks.push(detected.features.data);
      await execution.yieldToOthers();
    }
    samples = joinAndRelease(blocks, models.platform);
    frames = joinFrames(frameBlocks);
    rows = joinAndRelease(rowBlocks, models.platform);
  }

  let { start } = unbounded;
  let previousEnd = Number.NEGATIVE_INFINITY;
  return async () => {
    if (decoder.source() !== null) return null;
    await read();
    const isLast = decoder.source() !== null;
    const toChunk = (speech: DetectedSpeech, bounds: Segment) => {
      const frames = speech.power.length;
      return {
        speech: { ...speech, features: { data: rows.subarray(0, frames * bins), frames, bins } },
        allSegments: speech.segments,
        gaps: describeGaps(gaps, speech, models.vad.manifest.params.offset),
        lacksNoise: lacksNoise(gaps, speech),
        bounds: [bounds],
        previousEnd,
        isWhole: isLast && start < 0,
        isLast,
      };
    };
    const speech = analyzeSpeech({ samples, sampleRate }, frames as FrameBlock, models);
    if (isLast) return toChunk(speech, { start, end: unbounded.end });
    const { end, utteranceEnd } = findCut(speech, previousEnd, models, chunking.maxCutSeconds);
    const audio = { samples: samples.subarray(0, end * hopLength), sampleRate };
    const chunk = toChunk(analyzeSpeech(audio, sliceFrames(speech, 0, end), models), { start, end });
    samples = samples.slice(end * hopLength);
    rows = rows.slice(end * bins);
    frames = sliceFrames(speech, end);
    gaps = shift(gaps, -end).filter((gap) => gap.end > 0);
    position += end;
    [start, previousEnd] = [0, utteranceEnd - end];
    return chunk;
  };
}

/** Frees samples and features. */
export function release({ speech }: Pick<SpeechChunk, 'speech'>, platform: Platform): void {
  platform.release(speech.audio.samples);
  platform.release(speech.features.data);
}

/** Concatenates, and frees the parts unless one of them is the result. */
function joinAndRelease(parts: readonly Float32Array[], { release }: Platform): Float32Array {
  const joined = joinArrays(parts);
  for (const part of parts) if (part !== joined) release(part);
  return joined;
}

/** The end of the chunk: the middle of the longest pause of the last `maxCutSeconds` that no utterance contains. */
function findCut(speech: DetectedSpeech, previousEnd: number, { trunk, vad }: Models, maxCutSeconds: number) {
  const { segments, power, framesPerSecond } = speech;
  const now = power.length;
  const earliest = now - maxCutSeconds * framesPerSecond;
  const minPause = vad.manifest.params.minPauseSeconds * framesPerSecond;
  const utterances = cutUtterances(speech, trunk.manifest.params, [unbounded], previousEnd);
  // 0 inside of speech: utterances are cut there too.
  const pauseAfter = (at: number) => {
    const next = segments.find(({ end }) => end > at);
    return Math.max(0, (next?.start ?? now) - at);
  };
  const ends = utterances.filter((utterance) => hasEnded(utterance, now, minPause)).map(({ end }) => end);
  // No utterance contains so long a pause.
  const gaps = segments
    .map(({ end }) => end)
    .filter((end) => pauseAfter(end) > maxGapSeconds * framesPerSecond);
  const cuts = [...ends, ...gaps].map((end) => ({ end, pause: pauseAfter(end) }));
  const recent = cuts.filter(({ end, pause }) => end + pause / 2 >= earliest);
  const longest = (one: Cut, other: Cut) => (other.pause >= one.pause ? other : one);
  const best = recent.length > 0 ? recent.reduce(longest) : null;
  const end = Math.floor(best === null ? (segments.at(-1)?.start ?? now) : best.end + best.pause / 2);
  return {
    end: end === 0 ? now : end,
    utteranceEnd: ends.filter((one) => one <= end).at(-1) ?? previousEnd,
  };
}

type Cut = { readonly end: number; readonly pause: number };
