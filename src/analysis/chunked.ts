/** Upload -> decoded chunks -> speech per chunk. A recording up to `chunkSeconds` is one chunk. */
import {
  type DecodeOptions,
  type IncrementalDecoder,
  isAudioError,
  openChannelDecoders,
  openIncrementalDecoder,
} from '../audio/addon.ts';
import type { Models } from '../models/loader.ts';
import { invalidPart, ServiceError } from '../runtime/errors.ts';
import { joinArrays } from './join-arrays.ts';
import type { Segment } from './segments.ts';
import { detectSpeech, type SpeechAnalysis, truncateSpeech } from './speech.ts';
import { type StageTimer, stoppedMessage } from './stage-timer.ts';
import type { AnalyzeOptions } from './types.ts';
import { unbounded } from './windows.ts';

export type Chunking = {
  /** Longest chunk: bounds the memory of an analysis. */
  readonly chunkSeconds: number;
  /** A chunk may end this much earlier, in its last pause. */
  readonly maxCutSeconds: number;
};

export const defaultChunking: Chunking = { chunkSeconds: 180, maxCutSeconds: 60 };

export type UploadPart = 'audio' | 'baseline';

/**
 * One decoder, or one per channel. Their functions throw ServiceErrors that name the part of the upload.
 * @param part the part of `bytes`
 */
export function openDecoders(
  part: UploadPart,
  bytes: Uint8Array,
  { channels, ...options }: DecodeOptions & Pick<AnalyzeOptions, 'channels'>,
  { chunkSeconds }: Chunking,
  timer: StageTimer,
): readonly IncrementalDecoder[] {
  const maxSamples = chunkSeconds * options.sampleRate;
  const { channel: _, ...shared } = options;
  const selector = channels === null ? 'channel' : 'channels';
  const decoders = toServiceErrors(part, selector, () =>
    channels === null
      ? [openIncrementalDecoder(bytes, options, maxSamples)]
      : openChannelDecoders(bytes, shared, maxSamples),
  );
  return decoders.map((decoder) => ({
    ...decoder,
    next: () => {
      const samples = toServiceErrors(part, selector, decoder.next);
      timer.mark('decode');
      return samples;
    },
  }));
}

/** @param selector the part of the upload that chooses channels */
function toServiceErrors<Result>(
  part: UploadPart,
  selector: 'channel' | 'channels',
  work: () => Result,
): Result {
  try {
    return work();
  } catch (error) {
    if (!isAudioError(error)) throw error;
    switch (error.code) {
      case 'deadline':
      case 'cancelled':
        throw new ServiceError('deadline', stoppedMessage);
      case 'bad_argument':
      case 'internal':
        throw error;
      case 'channel':
        throw invalidPart(selector, 'audio.channel', error.reason);
      default: {
        throw invalidPart(part, `audio.${error.code}`, error.reason);
      }
    }
  }
}

export type SpeechChunk = {
  /** Of one speaker, when the caller names several. */
  readonly speech: SpeechAnalysis;
  /** All speech: what is outside is noise. */
  readonly allSegments: readonly Segment[];
  /** Spans inside which windows lie: silence replaces missing context only at the ends of the recording. */
  readonly bounds: readonly Segment[];
  readonly isWhole: boolean;
  readonly isLast: boolean;
};

/** Returns the next chunk, or null after the last. */
export type ChunkDetector = () => Promise<SpeechChunk | null>;

/** Chunks end in pauses: samples after the cut belong to the next chunk. Between calls only these are kept. */
export function detectChunks(
  decoder: IncrementalDecoder,
  models: Models,
  { maxCutSeconds }: Chunking,
  timer: StageTimer,
): ChunkDetector {
  const { hopLength, sampleRate } = models.features;
  let carried: Float32Array = new Float32Array(0);
  let { start } = unbounded;
  return async () => {
    if (decoder.source() !== null) return null;
    const decoded = decoder.next();
    const samples = carried.length === 0 ? decoded : joinArrays([carried, decoded]);
    const speech = await detectSpeech({ samples, sampleRate }, models, timer);
    if (decoder.source() !== null) {
      const isWhole = start === unbounded.start;
      return toChunk(speech, { start, end: unbounded.end }, isWhole, true);
    }
    const end = cutFrame(speech, maxCutSeconds);
    const bounds = { start, end };
    carried = samples.slice(end * hopLength);
    start = 0;
    return toChunk(truncateSpeech(speech, end, hopLength), bounds, false, false);
  };
}

export function toChunk(
  speech: SpeechAnalysis,
  bounds: Segment,
  isWhole: boolean,
  isLast: boolean,
): SpeechChunk {
  return { speech, allSegments: speech.segments, bounds: [bounds], isWhole, isLast };
}

/** Returns the middle of the last pause, or the end when that pause is more than `maxCutSeconds` before it. */
function cutFrame({ segments, features, framesPerSecond }: SpeechAnalysis, maxCutSeconds: number): number {
  const { frames } = features;
  const earliest = frames - maxCutSeconds * framesPerSecond;
  const starts = [...segments.slice(1).map(({ start }) => start), frames];
  for (let index = segments.length - 1; index >= 0; index--) {
    const middle = Math.floor(((segments[index] as Segment).end + (starts[index] as number)) / 2);
    if (middle < earliest) break;
    if (middle > (segments[index] as Segment).end) return middle;
  }
  return frames;
}
