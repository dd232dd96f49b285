import { loadedFile, loadNative, platformPackage } from '../runtime/native.ts';
import { builtAddon } from '../runtime/paths.ts';

/** Limits of a recording; decoding fails beyond them. */
export type DecodeLimits = {
  readonly seconds: number;
  readonly channels: number;
  readonly minSampleRate: number;
  readonly maxSampleRate: number;
  /** Time limit of one decode; 0 for none. */
  readonly deadlineSeconds: number;
};

export type DecodeOptions = {
  readonly sampleRate: number;
  /** 0-based; null averages all channels. */
  readonly channel: number | null;
  readonly limits: DecodeLimits;
  /** Shared flag: a value other than 0 in element 0 stops the decoder. */
  readonly cancel: Int32Array | null;
};

/** Properties of the source file. */
export type Source = {
  readonly container: string;
  readonly codec: string;
  readonly sampleRate: number;
  readonly channels: number;
  readonly clippedRatio: number;
  readonly channelCorrelation: number;
  readonly truncated: boolean;
};

/** Mono samples at `sampleRate`; full scale is 1. */
export type Audio = {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  readonly seconds: number;
  readonly source: Source;
};

/** All parameters of the features. All keys are required, others are rejected. Lengths are in samples. */
export type FeatureSpec = {
  readonly sampleRate: number;
  readonly winLength: number;
  readonly hopLength: number;
  /** none: whole frames only; reflect-center: librosa's center=True; snip-edges-false: Kaldi's snip_edges=false. */
  readonly padding: 'none' | 'reflect-center' | 'snip-edges-false';
  readonly dropLast: boolean;
  readonly removeDc: boolean;
  readonly preemphasis: number;
  readonly window: 'hann' | 'hamming' | 'povey';
  readonly windowPeriodic: boolean;
  readonly nFft: number;
  readonly spectrum: 'power' | 'magnitude';
  readonly nMels: number;
  readonly lowHz: number;
  readonly highHz: number;
  readonly melScale: 'htk' | 'slaney';
  readonly melNorm: 'none' | 'slaney';
  readonly melTriangles: 'hz' | 'mel';
  readonly logBase: 'e' | '10';
  readonly logFloor: number;
  /** Floor in dB below the maximum of the recording; null: none. */
  readonly topDb: number | null;
  readonly offset: number;
  readonly scale: number;
  /** Number of MFCCs; null: log-mel. */
  readonly nMfcc: number | null;
  readonly lifter: number;
  readonly energy: 'none' | 'log';
};

/** Row-major [frames x bins]. */
export type Features = {
  readonly data: Float32Array;
  readonly frames: number;
  readonly bins: number;
};

export type SignalQuality = {
  readonly levelDbfs: number;
  /** null when the recording holds no sound without speech. */
  readonly snrDb: number | null;
  readonly bandwidthHz: number;
};

/** One value every 10 ms, the first at time 0. */
export type ProsodyTrack = {
  /** 0 where the voice is unvoiced or silent. */
  readonly pitchHz: Float32Array;
  /** Power up to 4 kHz re full scale; -100 in silence. */
  readonly levelDb: Float32Array;
  /** Slope of the power density from 354 to 2828 Hz, dB an octave. */
  readonly tiltDb: Float32Array;
};

export type AudioErrorCode =
  | 'empty'
  | 'malformed'
  | 'unsupported'
  | 'too_long'
  | 'too_complex'
  | 'too_many_channels'
  | 'sample_rate'
  | 'channel'
  | 'deadline'
  | 'cancelled'
  | 'bad_argument'
  | 'internal';

/** Thrown by the functions of the addon; `reason` equals `message`. */
export type AudioError = Error & { readonly code: AudioErrorCode; readonly reason: string };

/**
 * Decodes a recording of any length block by block, on the calling thread. Throws AudioErrors as `decode` does, and
 * `bad_argument` once the memory of the recording was transferred or resized.
 */
export type IncrementalDecoder = {
  /** Returns the next samples: fewer at the end, then none. If decoding fails, the complete blocks before the error come first. */
  next(): Float32Array;
  /** Duration that the file declares; null when it declares none. */
  declaredSeconds(): number | null;
  /** Null until `next` has returned all samples. */
  source(): Source | null;
  close(): void;
};

type DecoderHandle = object;
type DecodedPart = {
  readonly samples: Float32Array;
  readonly declaredSeconds: number;
  readonly source?: Source;
};

type Addon = {
  decode(bytes: Uint8Array, options: DecodeOptions): Audio;
  openIncrementalDecoder(bytes: Uint8Array, options: DecodeOptions, maxSamples: number): DecoderHandle;
  openChannelDecoder(bytes: Uint8Array, options: DecodeOptions, maxSamples: number): DecoderHandle;
  decodeNext(decoder: DecoderHandle): DecodedPart;
  closeIncrementalDecoder(decoder: DecoderHandle): void;
  extract(samples: Float32Array, spec: FeatureSpec): Features;
  measureSignalQuality(samples: Float32Array, sampleRate: number, segments: Float64Array): SignalQuality;
  trackProsody(samples: Float32Array, sampleRate: number): Promise<ProsodyTrack>;
  setEnvironmentVariable(name: string, value: string): void;
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
  let source: Source | null = null;
  return {
    next: () => {
      const part = nextPart();
      declaredSeconds = part.declaredSeconds;
      source = part.source ?? null;
      return part.samples;
    },
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
    unread[channel === 0 ? 1 : 0].push({ ...part, samples: parts[channel === 0 ? 1 : 0] });
    return { ...part, samples: parts[channel] };
  };
  return [toDecoder(handle, () => nextPart(0)), toDecoder(handle, () => nextPart(1))];
}

/** Computes log-mel features or MFCCs. @throws AudioError `bad_argument` for an unknown, missing or invalid key */
export const extract = addon.extract;

/** Level, signal-to-noise ratio and bandwidth; `segments` holds start and end of speech in seconds, in pairs. */
export const measureQuality = addon.measureSignalQuality;

/** Pitch, level and spectral tilt of 16 kHz samples, on a thread of Node's pool. The samples must not change meanwhile. */
export const trackProsody = addon.trackProsody;

/** Sets a variable that native libraries read: in a worker thread `process.env` is a copy that they do not see. */
export const setEnvironmentVariable = addon.setEnvironmentVariable;

/** Changes whenever the same samples and spec would give other features. */
export const featuresVersion = addon.featuresVersion;
/** Frames that this processor computes side by side. */
export const lanes = addon.lanes;

/** Versions of the loaded libavformat, libavcodec, libavutil and soxr. */
export const libraryVersions = addon.libraryVersions;

export function isAudioError(error: unknown): error is AudioError {
  return error instanceof Error && 'code' in error && 'reason' in error && error.reason === error.message;
}
