/** The API of the package for Node.js programs. Every call runs on the calling thread and blocks its event loop. */
import {
  type AnalyzeRequest,
  type Audio,
  type CombinedReport,
  combinedReport,
  composeReport,
  type DecodeLimits,
  defaultOptions,
  type EmbeddingReport,
  embeddingReport,
  type ChannelsReport as HttpChannelsReport,
  type SpeakersReport as HttpSpeakersReport,
  type PooledEmbeddings,
  type SpeakerMode,
  type SpeakerSegment,
  type WithoutId,
} from '../engine/index.ts';
import { signals as allSignals, type Signal, withoutRequestIds } from '../engine/schema.ts';
import { decode as decodeAll } from '../node/addon.ts';
import { describeRaw } from '../node/audio-formats.ts';
import { loadAnalyzer } from '../node/models.ts';
import { shippedModels } from '../node/paths.ts';
import { parseConfig } from '../service/config.ts';
import {
  type ErrorCode,
  ServiceError,
  toServiceError,
  toValidationItem,
  type ValidationItem,
} from '../service/errors.ts';

export {
  type Audio,
  type AudioError,
  type AudioErrorCode,
  type DecodeLimits,
  type FeatureSpec,
  type Features,
  isAudioError,
  type PooledEmbeddings,
  type Source,
  type SpeakerMode,
  type SpeakerSegment,
} from '../engine/index.ts';
export type { Signal } from '../engine/schema.ts';
export { extract, featuresVersion } from '../node/addon.ts';
export { specs } from '../node/feature-specs.ts';
export type { ValidationItem } from '../service/errors.ts';

/**
 * Thrown by `analyze` when a recording cannot be analysed.
 * @example
 * ```ts
 * import { analyze, Failure } from 'undertone';
 *
 * const error = await analyze(new Uint8Array(0)).catch((reason) => reason);
 * if (error instanceof Failure) console.log(error.code, error.items[0]?.msg);
 * ```
 */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: ErrorCode;
  /** As `detail` of the HTTP service. */
  readonly items: readonly ValidationItem[];

  constructor({ code, message, problems }: ServiceError) {
    super(message);
    this.code = code;
    this.items = problems.map(toValidationItem);
  }
}

type DecodeOptions = {
  /** Hz; 16000 by default. */
  readonly sampleRate?: number;
  /** 0-based; null, the default, averages all channels. */
  readonly channel?: number | null;
  /** 0-based; null, the default: the audio track that the file marks as default, else the first that decodes. */
  readonly track?: number | null;
  /** Defaults of the service. */
  readonly limits?: Partial<DecodeLimits>;
  /** The call stops once element 0 is not 0; another thread can set it in shared memory. */
  readonly cancel?: Int32Array | null;
};

type AnalyzeOptions = {
  /** All by default. */
  readonly signals?: readonly Signal[];
  /** The same speaker at rest, up to five recordings: makes load, processing, valence and arousal relative too. */
  readonly baseline?: Uint8Array | readonly Uint8Array[] | null;
  /** 0-based; null averages all channels. */
  readonly channel?: number | null;
  /** 0-based audio track; null: the one that the file marks as default, else the first that decodes. */
  readonly track?: number | null;
  /** For errors: names data without a header by its extension. */
  readonly fileName?: string;
  /** Adds `embeddings` to the report. */
  readonly embeddings?: boolean;
  /** Called after each chunk, of at most three minutes, with the seconds so far and the declared duration, if there is one. */
  readonly onProgress?: (analyzedSeconds: number, durationSeconds: number | null) => void;
  /** The models of the package by default. */
  readonly modelsDir?: string;
  /** Defaults of the service. */
  readonly limits?: DecodeLimits;
};

/** The reports of the HTTP service without its request id. Signals that were not requested are absent. */
export type Report = Pick<CombinedReport, 'audio' | 'segments'> &
  Partial<Pick<CombinedReport, Signal>> & {
    /** Absent when not requested, or with too little speech. Embeddings of other model versions do not compare. */
    readonly embeddings?: PooledEmbeddings;
  };

/** `channels` = `split` of the HTTP service, without request ids. */
export type ChannelsReport = WithoutId<Omit<HttpChannelsReport, 'channels'>> & {
  readonly channels: readonly [WithoutId<CombinedReport>, WithoutId<CombinedReport>];
};

/** `segments` and `speakers` of the HTTP service, without request ids. */
export type SpeakersReport = WithoutId<Omit<HttpSpeakersReport, 'speakers'>> & {
  readonly speakers: readonly ({ readonly speaker: string } & WithoutId<CombinedReport>)[];
};

type SharedOptions = Pick<AnalyzeOptions, 'track' | 'fileName' | 'modelsDir' | 'limits' | 'onProgress'>;

type EmbedOptions = SharedOptions & Pick<AnalyzeOptions, 'channel'>;

/** The report of /v1/embed without its request id. */
export type Embeddings = WithoutId<EmbeddingReport>;

let last: Promise<unknown> = Promise.resolve();

/**
 * Decodes a whole file of any supported format.
 * @throws AudioError; never returns a partial result
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { decode } from 'undertone';
 *
 * const { samples, seconds } = decode(await readFile('examples/sample.wav'), { sampleRate: 8000 });
 * console.log(samples.length, seconds);
 * ```
 */
export function decode(bytes: Uint8Array, options: DecodeOptions = {}): Audio {
  const { sampleRate = 16_000, channel = null, track = null, limits, cancel = null } = options;
  const all = { ...parseConfig({}).limits, ...limits };
  return decodeAll(bytes, { sampleRate, channel, track, limits: all, cancel });
}

/**
 * Runs one analysis at a time. The first call loads the models.
 * @throws Failure when the recording cannot be analysed
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { analyze } from 'undertone';
 *
 * const { emotion } = await analyze(await readFile('examples/sample.wav'), { signals: ['emotion'] });
 * if (emotion?.status === 'ok') console.log(emotion.signals.dominant_emotion, emotion.signals.valence);
 * ```
 */
export function analyze(audio: Uint8Array, options: AnalyzeOptions = {}): Promise<Report> {
  return enqueue(() => report(audio, options));
}

/**
 * Embeddings of a recording and of its utterances.
 * @throws Failure when the recording cannot be analysed
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { embed } from 'undertone';
 *
 * const report = await embed(await readFile('examples/sample.wav'));
 * if (report.status === 'ok') console.log(report.embedding.length, report.timeline.length);
 * ```
 */
export function embed(audio: Uint8Array, options: EmbedOptions = {}): Promise<Embeddings> {
  return enqueue(async () => {
    const {
      modelsDir = shippedModels,
      limits = parseConfig({}).limits,
      onProgress,
      fileName,
      ...analyzed
    } = options;
    const request = {
      ...defaultOptions,
      ...analyzed,
      audio,
      baselines: [],
      signals: [],
      declared: declaredBy(fileName),
      embeddings: true,
      cancel: null,
    };
    const [analysis] = await (await loadAnalyzer({ modelsDir, limits })).analyze(request, onProgress);
    return embeddingReport(analysis);
  });
}

/**
 * Analyses each of two channels alone.
 * @throws Failure when the recording cannot be analysed
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { analyzeChannels } from 'undertone';
 *
 * const { channels } = await analyzeChannels(await readFile('examples/call.ogg'));
 * for (const { emotion, cognitive } of channels) console.log(emotion.signals, cognitive.signals);
 * ```
 */
export function analyzeChannels(audio: Uint8Array, options: SharedOptions = {}): Promise<ChannelsReport> {
  return enqueue(() => reportParts(audio, { ...options, channels: 'split' })) as Promise<ChannelsReport>;
}

/**
 * Analyses each speaker alone.
 * @param speakers who speaks when; or `2` to `6` or `auto`: voices are separated
 * @throws Failure when the recording cannot be analysed
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { analyzeSpeakers } from 'undertone';
 *
 * const { speakers } = await analyzeSpeakers(await readFile('examples/sample.wav'), [
 *   { start: 0, end: 4, speaker: 'A' },
 *   { start: 8, end: 20, speaker: 'B' },
 * ]);
 * for (const { speaker, audio } of speakers) console.log(speaker, audio.speech_s);
 * ```
 */
export function analyzeSpeakers(
  audio: Uint8Array,
  speakers: readonly SpeakerSegment[] | SpeakerMode,
  options: SharedOptions & Pick<AnalyzeOptions, 'channel'> = {},
): Promise<SpeakersReport> {
  const parts =
    typeof speakers === 'string'
      ? { speakers }
      : { segments: speakers.toSorted((one, other) => one.start - other.start) };
  return enqueue(() => reportParts(audio, { ...options, ...parts })) as Promise<SpeakersReport>;
}

function enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
  const done = last.then(work).catch(rethrow);
  last = done.catch(() => {});
  return done;
}

async function reportParts(
  audio: Uint8Array,
  {
    modelsDir = shippedModels,
    limits = parseConfig({}).limits,
    onProgress,
    fileName,
    ...options
  }: SharedOptions & Partial<AnalyzeRequest>,
): Promise<object> {
  const all = { ...defaultOptions, ...options, declared: declaredBy(fileName) };
  const request = { ...all, audio, baselines: [], signals: allSignals, cancel: null };
  const analyses = await (await loadAnalyzer({ modelsDir, limits })).analyze(request, onProgress);
  return withoutRequestIds(composeReport(request, analyses, ''));
}

const declaredBy = (fileName = '') => describeRaw(null, fileName) ?? undefined;

function rethrow(error: unknown): never {
  const known = toServiceError(error);
  throw known instanceof ServiceError ? new Failure(known) : error;
}

async function report(audio: Uint8Array, options: AnalyzeOptions): Promise<Report> {
  const { signals = allSignals, baseline = null, embeddings = false, onProgress } = options;
  const {
    channel = defaultOptions.channel,
    track = defaultOptions.track,
    modelsDir = shippedModels,
    limits = parseConfig({}).limits,
  } = options;
  const request: AnalyzeRequest = {
    audio,
    baselines: baseline === null ? [] : [baseline].flat(),
    ...defaultOptions,
    channel,
    track,
    declared: declaredBy(options.fileName),
    signals,
    embeddings,
    cancel: null,
  };
  const [analysis] = await (await loadAnalyzer({ modelsDir, limits })).analyze(request, onProgress);
  const full = combinedReport(analysis, '');
  const requested = allSignals.filter((signal) => signals.includes(signal));
  return {
    ...Object.fromEntries(requested.map((signal) => [signal, full[signal]])),
    audio: full.audio,
    segments: full.segments,
    ...(analysis.embeddings && { embeddings: analysis.embeddings }),
  };
}
