/** The audio addon, and the types of its functions. */
import type {
  Audio,
  DecodeOptions,
  FeatureSpec,
  Features,
  FilteredStream,
  IncrementalDecoder,
  ProsodyTrack,
  SignalQuality,
  Source,
  StreamFilterOptions,
} from '../engine/index.ts';
import { loadedFile, loadNative, platformPackage } from './native.ts';
import { builtAddon } from './paths.ts';

type DecoderHandle = object;
type ExtractorHandle = object;
type DecodedPart = {
  readonly samples: Float32Array;
  readonly gaps: Float64Array;
  readonly declaredSeconds: number;
  readonly source?: Source;
};

type Addon = {
  decode(bytes: Uint8Array, options: DecodeOptions): Audio;
  openIncrementalDecoder(bytes: Uint8Array, options: DecodeOptions, maxSamples: number): DecoderHandle;
  openChannelDecoder(bytes: Uint8Array, options: DecodeOptions, maxSamples: number): DecoderHandle;
  decodeNext(decoder: DecoderHandle): DecodedPart;
  closeIncrementalDecoder(decoder: DecoderHandle): void;
  createExtractor(spec: FeatureSpec): ExtractorHandle;
  extract(samples: Float32Array, extractor: ExtractorHandle): Features;
  measureSignalQuality(samples: Float32Array, sampleRate: number, segments: Float64Array): SignalQuality;
  filterStream(samples: Float32Array, state: Float64Array, options: StreamFilterOptions): FilteredStream;
  temporalCentroid(samples: Float32Array): number;
  trackProsody(samples: Float32Array, sampleRate: number): Promise<ProsodyTrack>;
  release(array: Float32Array | Uint8Array): void;
  readonly featuresVersion: number;
  readonly lanes: number;
  readonly libraryVersions: Readonly<Record<string, string>>;
};

const candidates = [builtAddon, platformPackage];
const addon = loadNative<Addon>('the native addon of undertone', candidates);

/** The file of the addon. */
export const addonFile = loadedFile(candidates) as string;

/** Decodes a whole file of any supported format. Throws an AudioError; a partial result is never returned. */
export const decode = addon.decode;

/** @param maxSamples samples per call */
export function openIncrementalDecoder(
  bytes: Uint8Array,
  options: DecodeOptions,
  maxSamples: number,
): IncrementalDecoder {
  const handle = addon.openIncrementalDecoder(bytes, options, maxSamples);
  return toDecoder(handle, () => addon.decodeNext(handle));
}

function toDecoder(handle: DecoderHandle, nextPart: () => DecodedPart): IncrementalDecoder {
  let declaredSeconds = 0;
  let gaps: Float64Array = new Float64Array(0);
  let source: Source | null = null;
  return {
    next: () => {
      const part = nextPart();
      declaredSeconds = part.declaredSeconds;
      gaps = part.gaps;
      source = part.source ?? null;
      return part.samples;
    },
    gaps: () => gaps,
    declaredSeconds: () => declaredSeconds || null,
    source: () => source,
    close: () => addon.closeIncrementalDecoder(handle),
  };
}

/**
 * A decoder per channel of a recording with exactly two channels, which is decoded once. Samples that one decoder has
 * returned and the other has not stay in memory. Closing one decoder closes both.
 * @param maxSamples samples per call
 */
export function openChannelDecoders(
  bytes: Uint8Array,
  options: Omit<DecodeOptions, 'channel'>,
  maxSamples: number,
): readonly [IncrementalDecoder, IncrementalDecoder] {
  const handle = addon.openChannelDecoder(bytes, { ...options, channel: null }, maxSamples);
  const unread: readonly [DecodedPart[], DecodedPart[]] = [[], []];
  const nextPart = (channel: 0 | 1): DecodedPart => {
    const kept = unread[channel].shift();
    if (kept !== undefined) return kept;
    const { samples, ...part } = addon.decodeNext(handle);
    const length = samples.length / 2;
    const parts = [samples.slice(0, length), samples.slice(length)] as const;
    addon.release(samples);
    unread[channel === 0 ? 1 : 0].push({ ...part, samples: parts[channel === 0 ? 1 : 0] });
    return { ...part, samples: parts[channel] };
  };
  return [toDecoder(handle, () => nextPart(0)), toDecoder(handle, () => nextPart(1))];
}

/** By spec object: to read the 25 keys of a spec takes longer than to compute a short window. */
const extractors = new WeakMap<FeatureSpec, ExtractorHandle>();

/**
 * Computes log-mel features or MFCCs.
 * @param spec read in the first call: later changes have no effect
 * @throws AudioError `bad_argument` for an unknown, missing or invalid key
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { decode, extract, specs } from 'undertone';
 *
 * const { samples } = decode(await readFile('examples/sample.wav'));
 * const { data, frames, bins } = extract(samples, specs['whisper-log-mel-80']);
 * console.log(data.length === frames * bins);
 * ```
 */
export function extract(samples: Float32Array, spec: FeatureSpec): Features {
  let extractor = extractors.get(spec);
  if (extractor === undefined) {
    extractor = addon.createExtractor(spec);
    extractors.set(spec, extractor);
  }
  return addon.extract(samples, extractor);
}

/** Level, signal-to-noise ratio and bandwidth; `segments` holds start and end of speech in seconds, in pairs. */
export const measureQuality = addon.measureSignalQuality;

export const filterStream = addon.filterStream;
export const temporalCentroid = addon.temporalCentroid;

/** Pitch, level and spectral tilt of 16 kHz samples, on a thread of Node's pool. The samples must not change meanwhile. */
export function trackProsody(samples: Float32Array, sampleRate: number): Promise<ProsodyTrack> {
  const track = addon.trackProsody(samples, sampleRate);
  // An analysis that fails meanwhile does not wait for it.
  track.catch(() => {});
  return track;
}

/** Frees the buffer of the array at once, without the garbage collector: the array and all other views of it become empty. */
export const release = addon.release;

/** Changes whenever the same samples and spec would give other features. */
export const featuresVersion = addon.featuresVersion;
/** Frames that this processor computes side by side. */
export const lanes = addon.lanes;

/** Versions of the loaded libavformat, libavcodec, libavutil and soxr. */
export const libraryVersions = addon.libraryVersions;
