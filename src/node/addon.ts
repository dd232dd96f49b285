/** Loads native code, built from source in a clone or from a package for the platform, and types the functions of the addon. */
import { createRequire } from 'node:module';
import type {
  Audio,
  DecodeOptions,
  FeatureSpec,
  Features,
  Hops,
  IncrementalDecoder,
  ProsodyTrack,
  SignalQuality,
  Source,
} from '../engine/index.ts';
import { builtAddon } from './paths.ts';

/** Platforms that packages exist for. */
const platforms = ['linux-x64', 'linux-arm64'];
const platform = `${process.platform}-${process.arch}`;

export const platformPackage = `@undertone/${platform}`;
export const onnxRuntimePackage = `@undertone/onnxruntime-${platform}`;

type Host = { readonly platform: string; readonly glibc: string | null; readonly node: string };

/** Exported for tests. */
export function describeFailure(
  what: string,
  failures: readonly (readonly [candidate: string, reason: string])[],
  { platform, glibc, node }: Host,
): string {
  const isLinux = platform.startsWith('linux-');
  const libc = isLinux ? `, ${glibc === null ? 'musl or another C library' : `glibc ${glibc}`}` : '';
  return [
    `Expected ${what} for ${platform}${libc}, Node.js ${node}, got none. Tried:`,
    ...failures.map(([candidate, reason]) => `- ${candidate}: ${reason.split('\n')[0]}`),
    advice(platform, isLinux && glibc === null),
  ].join('\n');
}

function advice(platform: string, isOtherLibc: boolean): string {
  const source = 'clone the repository and run `npm start`, which builds from source';
  if (!platforms.includes(platform))
    return `Packages exist for ${platforms.join(' and ')}. Elsewhere ${source}.`;
  if (isOtherLibc)
    return `The packages need glibc 2.28 or later: use an image of Debian or Ubuntu, or ${source}.`;
  return `Run \`npm install\` on this platform without --omit=optional and --no-optional (the packages need glibc 2.28 or later), or ${source}.`;
}

function currentHost(): Host {
  const report = process.report.getReport() as {
    readonly header?: { readonly glibcVersionRuntime?: string };
  };
  return { platform, glibc: report.header?.glibcVersionRuntime ?? null, node: process.versions.node };
}

/** Returns the file of the candidate that was loaded. */
export function loadedFile(candidates: readonly string[]): string | undefined {
  const { cache, resolve } = createRequire(import.meta.url);
  return candidates
    .map((candidate) => {
      try {
        return resolve(candidate);
      } catch {
        return '';
      }
    })
    .find((file) => cache[file] !== undefined);
}

/**
 * Returns the first module that loads.
 * @param candidates paths or names of packages
 * @throws with the failure of each
 */
export function loadNative<Module>(what: string, candidates: readonly string[]): Module {
  const load = createRequire(import.meta.url);
  const failures: [string, string][] = [];
  for (const candidate of candidates) {
    try {
      return load(candidate) as Module;
    } catch (error) {
      failures.push([candidate, error instanceof Error ? error.message : String(error)]);
    }
  }
  throw new Error(describeFailure(what, failures, currentHost()));
}

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
  measureHops(samples: Float32Array, hopLength: number): Hops;
  temporalCentroid(samples: Float32Array): number;
  trackProsody(samples: Float32Array, sampleRate: number): Promise<ProsodyTrack>;
  releaseSamples(samples: Float32Array): void;
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
    addon.releaseSamples(samples);
    unread[channel === 0 ? 1 : 0].push({ ...part, samples: parts[channel === 0 ? 1 : 0] });
    return { ...part, samples: parts[channel] };
  };
  return [toDecoder(handle, () => nextPart(0)), toDecoder(handle, () => nextPart(1))];
}

/** Computes log-mel features or MFCCs. @throws AudioError `bad_argument` for an unknown, missing or invalid key */
export const extract = addon.extract;

/** Level, signal-to-noise ratio and bandwidth; `segments` holds start and end of speech in seconds, in pairs. */
export const measureQuality = addon.measureSignalQuality;

export const measureHops = addon.measureHops;
export const temporalCentroid = addon.temporalCentroid;

/** Pitch, level and spectral tilt of 16 kHz samples, on a thread of Node's pool. The samples must not change meanwhile. */
export const trackProsody = addon.trackProsody;

/** Frees the buffer of the array at once, without the garbage collector: the array and all other views of it become empty. */
export const releaseSamples = addon.releaseSamples;

/** Changes whenever the same samples and spec would give other features. */
export const featuresVersion = addon.featuresVersion;
/** Frames that this processor computes side by side. */
export const lanes = addon.lanes;

/** Versions of the loaded libavformat, libavcodec, libavutil and soxr. */
export const libraryVersions = addon.libraryVersions;
