/** What the engine gets from the machine that it runs on: the calls of the native addon, graphs that run, and hashes. */

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
  /** 0-based audio track; null: the one that the file marks as default, else the first that decodes. */
  readonly track: number | null;
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
  /** Damaged frames, or data before or after the recording, were left out. */
  readonly unreadData: boolean;
  /** The decoded audio track, from 0, and how many the file has. */
  readonly track: number;
  readonly tracks: number;
};

/** Mono samples at `sampleRate`; full scale is 1. */
export type Audio = {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  readonly seconds: number;
  /** As those of an IncrementalDecoder. */
  readonly gaps: Float64Array;
  readonly source: Source;
};

/** All parameters of the features. All keys but `highpassHz` are required, others are rejected. Lengths are in samples. */
export type FeatureSpec = {
  readonly sampleRate: number;
  /** Cutoff of an elliptic high-pass, in Hz, which the samples pass first: see Highpass of native/core/dsp; absent: no filter. */
  readonly highpassHz?: number;
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
  /** Bytes of no known format. */
  | 'unknown'
  | 'too_long'
  | 'too_complex'
  | 'too_many_channels'
  | 'sample_rate'
  | 'channel'
  | 'track'
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
  /** Returns the next samples, in a new buffer: fewer at the end, then none. If decoding fails, the complete blocks before the error come first. */
  next(): Float32Array;
  /**
   * Spans that the timestamps of the file leave out and that are silence in the samples: start and end in seconds of the
   * recording, in turn. Those that the last `next` has found; they may end after its samples.
   */
  gaps(): Float64Array;
  /** Duration that the file declares; null when it declares none. */
  declaredSeconds(): number | null;
  /** Null until `next` has returned all samples. */
  source(): Source | null;
  close(): void;
};

/** Row-major values and their shape. */
export type Values<Data = Float32Array> = { readonly data: Data; readonly shape: readonly number[] };

/** What a model reads and returns: values, or bytes that only another model reads. */
export type Tensor = Values<Float32Array | Uint8Array>;

export type Session = {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Last dimension of each input and output; a name where it varies. */
  readonly widths: Readonly<Record<string, number | string>>;
  run(inputs: Readonly<Record<string, Tensor>>): Promise<Record<string, Tensor>>;
};

/** Hashes bytes in parts. */
export type Hash = {
  update(bytes: Uint8Array): void;
  /** Lower-case hexadecimal. */
  digest(): string;
};

export type Hops = {
  /** Mean square of the samples of each hop, without what is below `highpassHz`, or 64 Hz when that is absent. */
  readonly power: Float32Array;
  /** Samples at full scale in each hop. */
  readonly clipped: Float32Array;
};

export type StreamFilterOptions = Pick<FeatureSpec, 'sampleRate' | 'hopLength' | 'highpassHz'>;

/** `state`: of the stream after the samples. The hops are those that end in them. */
export type FilteredStream = Hops & { readonly state: Float64Array };

/** The functions of the addon throw AudioErrors. */
export type Platform = {
  /** Decodes a whole file of any supported format; a partial result is never returned. */
  decode(bytes: Uint8Array, options: DecodeOptions): Audio;
  /** @param maxSamples samples per call */
  openIncrementalDecoder(bytes: Uint8Array, options: DecodeOptions, maxSamples: number): IncrementalDecoder;
  /**
   * A decoder per channel of a recording with exactly two channels, which is decoded once. Samples that one decoder has
   * returned and the other has not stay in memory. Closing one decoder closes both.
   * @param maxSamples samples per call
   */
  openChannelDecoders(
    bytes: Uint8Array,
    options: Omit<DecodeOptions, 'channel'>,
    maxSamples: number,
  ): readonly [IncrementalDecoder, IncrementalDecoder];
  /** Computes log-mel features or MFCCs, in a new buffer. */
  extract(samples: Float32Array, spec: FeatureSpec): Features;
  /** Level, signal-to-noise ratio and bandwidth; `segments` holds start and end of speech in seconds, in pairs. */
  measureQuality(samples: Float32Array, sampleRate: number, segments: Float64Array): SignalQuality;
  /**
   * Removes what is below `highpassHz` from the next samples of a stream, in place; an offset alone without `highpassHz`. How
   * a stream is cut into blocks changes no bit.
   * @param state empty at the start of a stream
   */
  filterStream(samples: Float32Array, state: Float64Array, options: StreamFilterOptions): FilteredStream;
  /** Mean position weighted by energy, in samples (MPEG-7 TemporalCentroid, without an envelope); the middle of silence. */
  temporalCentroid(samples: Float32Array): number;
  /** Pitch, level and spectral tilt of 16 kHz samples, on another thread. The samples must not change meanwhile. */
  trackProsody(samples: Float32Array, sampleRate: number): Promise<ProsodyTrack>;
  /**
   * Frees the memory of an array that nothing reads any more; it and all views of its buffer become empty. V8 counts the
   * memory of arrays that outlive two scavenges, and marks the whole heap after every few megabytes of it.
   */
  release(array: Float32Array | Uint8Array): void;
  /** Changes whenever the same samples and spec would give other features. */
  readonly featuresVersion: number;
  /**
   * `run` blocks its thread. The outputs have the same bits with every number of threads.
   * @param weights a self-contained ONNX file: external data is refused
   * @param threads that compute one run: the calling one, and others that sleep between runs
   */
  openSession(weights: Uint8Array, threads: number): Promise<Session>;
  createSha256(): Hash;
};

type EngineErrorCode =
  | Exclude<AudioErrorCode, 'unknown' | 'deadline' | 'cancelled' | 'bad_argument' | 'internal'>
  | 'insufficient_speech'
  /** The set has no voice model. */
  | 'speakers'
  /** A segment starts after the end of the recording. */
  | 'segments'
  /** Cancelled, or past its deadline. */
  | 'stopped';

/** A recording that cannot be analysed, or an analysis that was stopped. */
export class EngineError extends Error {
  readonly code: EngineErrorCode;
  /** The input that is wrong; null when stopped. */
  readonly at: 'audio' | 'baseline' | 'channel' | 'channels' | 'track' | 'segments' | 'speakers' | null;

  constructor(code: EngineErrorCode, at: EngineError['at'], message: string) {
    super(message);
    this.name = 'EngineError';
    this.code = code;
    this.at = at;
  }
}

/** A model that cannot be read, or that does not match what it comes with. */
export class ModelError extends Error {}

/**
 * Whether `error` was thrown by `decode` or `extract` for the audio or an argument.
 * @example
 * ```ts
 * import { decode, isAudioError } from 'undertone';
 *
 * try {
 *   decode(new Uint8Array(0));
 * } catch (error) {
 *   if (isAudioError(error)) console.log(error.code, error.reason);
 * }
 * ```
 */
export function isAudioError(error: unknown): error is AudioError {
  return error instanceof Error && 'code' in error && 'reason' in error && error.reason === error.message;
}
