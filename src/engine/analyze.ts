/** The pipeline: bytes -> chunks of samples -> speech -> utterances -> embeddings -> signals. */

import { type Analysis, aggregate, shiftToRecording, spanOf } from './aggregate.ts';
import { analyzeChunk, type ChunkResult } from './analyze-chunk.ts';
import { sum } from './arrays.ts';
import { describeBaselines } from './baselines.ts';
import {
  type ChunkDetector,
  type Chunking,
  type Context,
  defaultChunking,
  detectChunks,
  openDecoders,
  release,
  type SpeechChunk,
} from './chunks.ts';
import { startExecution } from './execution.ts';
import { analyzeLive, type LiveResult, type LiveStep } from './live.ts';
import type { Models } from './loader.ts';
import { type AnalyzeOptions, longSeconds } from './options.ts';
import {
  type DecodeLimits,
  EngineError,
  type Hash,
  type IncrementalDecoder,
  type Platform,
  type Source,
} from './platform.ts';
import { type Segment, subtract, union } from './segments.ts';
import { separateSpeakers } from './separation.ts';
import type { Baseline } from './signals/definition.ts';
import type { Signal } from './signals/table.ts';
import { checkStarts, restrictToSpeaker, soloSpans } from './speaker-segments.ts';
import { voiceModelOf } from './voices.ts';

export type AnalyzeRequest = AnalyzeOptions & {
  readonly audio: Uint8Array;
  /** Recordings of the same speaker at rest, at most `maxBaselines`, with which the recording is compared. */
  readonly baselines: readonly Uint8Array[];
  readonly signals: readonly Signal[];
  /** Adds the hash of the samples to the analysis. */
  readonly hashSamples?: boolean;
  /** Adds the embeddings to the analysis. */
  readonly embeddings?: boolean;
  /** In place of those of the analyzer. */
  readonly limits?: Partial<DecodeLimits>;
  /** Shared with the caller: a value other than 0 cancels the analysis at the next stage. */
  readonly cancel: Int32Array | null;
  /** Called between units of work, of some 0.1 s at most: the analysis waits for it. Returns whether others ran. */
  readonly yieldToOthers?: (() => Promise<boolean>) | undefined;
};

/** One analysis, or one per channel or speaker. */
export type Analyses = readonly [Analysis, ...Analysis[]];

/**
 * Called after each chunk with the seconds analysed so far and the declared duration: null when none is declared, never
 * less than what was analysed, and exact after the last chunk. The analysis waits for it.
 */
type OnChunk = (analyzedSeconds: number, durationSeconds: number | null) => void | Promise<void>;

export type Analyzer = {
  /** Calls must not overlap. @throws EngineError for a recording that cannot be analysed */
  analyze(request: AnalyzeRequest, onChunk?: OnChunk): Promise<Analyses>;
  /** Returns null for a recording of over `longSeconds`, once that is known. @throws EngineError */
  analyzeUnlessLong(request: AnalyzeRequest): Promise<Analyses | null>;
  /** Analyses what came of a stream. @throws EngineError */
  live(step: LiveStep & { readonly cancel: Int32Array | null }): Promise<LiveResult>;
  readonly models: Models;
};

export function analyzerOf(
  models: Models,
  limits: DecodeLimits,
  chunking: Chunking = defaultChunking,
): Analyzer {
  const context = { models, limits, chunking };
  return {
    analyze: async (request, onChunk = () => {}) =>
      (await analyze(request, context, { onChunk, maxSeconds: null })) as Analyses,
    analyzeUnlessLong: (request) => analyze(request, context, { onChunk: () => {}, maxSeconds: longSeconds }),
    live: (step) => analyzeLive(step, models, limits),
    models,
  };
}

async function analyze(
  request: AnalyzeRequest,
  analyzer: Context,
  { onChunk, maxSeconds }: { readonly onChunk: OnChunk; readonly maxSeconds: number | null },
): Promise<Analyses | null> {
  const context = { ...analyzer, limits: { ...analyzer.limits, ...request.limits } };
  const { models, limits } = context;
  const execution = startExecution(request.cancel, request.yieldToOthers);
  const { sampleRate } = models.features;
  if (request.speakers !== null) voiceModelOf(models);
  const opened = openDecoders('audio', request.audio, request, context);
  const hashes = hashSamples(opened, request, models.platform);
  const { decoders } = hashes;
  const detectors = decoders.map((decoder) => detectChunks(decoder, context, execution));
  const spans = request.segments && soloSpans(request.segments, sampleRate / models.features.hopLength);
  const results = (spans ?? decoders).map((): ChunkResult[] => []);
  const [decoder, firstResults] = [decoders[0] as IncrementalDecoder, results[0] as ChunkResult[]];
  let baselines: readonly Baseline[] = [];
  let baselineSeconds = 0;

  /** @throws EngineError when audio and baselines together are longer than the limit */
  function checkTogether(audioSeconds: number): void {
    if (baselineSeconds === 0 || audioSeconds + baselineSeconds <= limits.seconds) return;
    const expected = `at most ${limits.seconds} s for \`audio\` and \`baseline\` together`;
    throw new EngineError('too_long', 'baseline', `Expected ${expected}, got more`);
  }

  /** The samples of a chunk are freed before it returns. Returns whether chunks follow, or null above `maxSeconds`. */
  async function analyzeNext(): Promise<boolean | null> {
    const chunks = await nextOf(detectors);
    const [{ speech, isLast }] = chunks;
    const samples = sum(firstResults, (result) => result.samples) + speech.audio.samples.length;
    const seconds = samples / sampleRate;
    const declared = decoder.declaredSeconds();
    const duration = isLast ? seconds : declared && Math.max(seconds, declared);
    if (maxSeconds !== null && (duration ?? seconds) > maxSeconds) {
      for (const chunk of chunks) release(chunk, models.platform);
      return null;
    }
    const onBaseline = (added: number) => {
      baselineSeconds += added;
      checkTogether(seconds);
    };
    if (firstResults.length === 0)
      baselines = await describeBaselines(request, context, onBaseline, execution);
    checkTogether(seconds);
    if (isLast) checkStarts(request.segments ?? [], seconds);
    const offset = sum(firstResults, ({ frames }) => frames);
    const voices = spans?.map((alone) => restrictToSpeaker(chunks[0], alone, offset)) ?? chunks;
    for (const [index, voice] of voices.entries()) {
      const before = results[index] as ChunkResult[];
      before.push(await analyzeChunk(voice, request, before.at(-1), models, execution));
    }
    for (const chunk of chunks) release(chunk, models.platform);
    await onChunk(seconds, duration);
    return !isLast;
  }

  try {
    for (let more: boolean | null = true; more; ) {
      more = await analyzeNext();
      if (more === null) return null;
    }
    const averaged = request.channel === null && request.channels === null;
    const trackChosen = request.track !== null;
    const { speakers: mode } = request;
    const source = decoder.source() as Source;
    const recording = {
      source,
      averaged,
      trackChosen,
      isSeparated: mode !== null || spans !== null,
      baselines,
    };
    const speakers = mode === null ? results : await separateSpeakers(firstResults, mode, models, execution);
    const segments = speakers.map((chunks) => spanOf(chunks, models).segments);
    const shared = spans !== null || mode !== null;
    const unassigned = shared
      ? subtract(shiftToRecording(firstResults, allSegmentsOf), union(segments.flat()))
      : [];
    const digests = hashes.digests();
    const [first, ...others] = speakers.map((chunks, index) => {
      const whole = { ...recording, others: othersOf([...segments, unassigned], index), unassigned };
      const analysis = aggregate(chunks, whole, request.signals, models);
      execution.endStage('aggregate');
      const samplesSha256 = digests[shared ? 0 : index] ?? null;
      return { ...analysis, samplesSha256, stages: execution.stages() };
    });
    return [first as Analysis, ...others];
  } finally {
    decoder.close();
  }
}

/** @param segments of each channel or speaker @returns those of all but one; undefined when there are no others */
function othersOf(segments: readonly (readonly Segment[])[], index: number): Segment[] | undefined {
  const others = union(segments.filter((_, at) => at !== index).flat());
  return others.length === 0 ? undefined : others;
}

const allSegmentsOf = ({ allSegments }: ChunkResult) => allSegments;

/** @returns decoders whose samples are hashed if the request wants it */
function hashSamples(
  decoders: readonly IncrementalDecoder[],
  request: AnalyzeRequest,
  { createSha256 }: Platform,
) {
  if (!request.hashSamples) return { decoders, digests: () => [] };
  const hashes = decoders.map(() => createSha256());
  const next = (decoder: IncrementalDecoder, hash: Hash) => {
    const samples = decoder.next();
    hash.update(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
    return samples;
  };
  return {
    decoders: decoders.map((decoder, index) => ({
      ...decoder,
      next: () => next(decoder, hashes[index] as Hash),
    })),
    /** Once all samples are read. */
    digests: () => hashes.map((hash) => hash.digest()),
  };
}

type DetectedChunk = SpeechChunk & { readonly isLast: boolean };

/** The next chunk of every channel: channels have equally many. */
async function nextOf(
  detectors: readonly ChunkDetector[],
): Promise<readonly [DetectedChunk, ...DetectedChunk[]]> {
  const chunks: DetectedChunk[] = [];
  for (const next of detectors) chunks.push((await next()) as DetectedChunk);
  const [first, ...others] = chunks;
  return [first as DetectedChunk, ...others];
}
