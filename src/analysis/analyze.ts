/** The pipeline: bytes -> chunks of samples -> speech -> windows -> embeddings -> signals. */
import {
  type DecodeLimits,
  type IncrementalDecoder,
  measureQuality,
  type SignalQuality,
  type Source,
} from '../audio/addon.ts';
import { replay, syntheticSignal } from '../models/golden.ts';
import { loadModels, type Models } from '../models/loader.ts';
import { invalidPart } from '../runtime/errors.ts';
import {
  type Chunking,
  defaultChunking,
  detectChunks,
  openDecoder,
  type SpeechChunk,
  type UploadPart,
} from './chunked.ts';
import { encode } from './encode.ts';
import { joinQualities, meanBySpeech, meanLevel } from './quality.ts';
import { countFrames, joinGaps, type Segment } from './segments.ts';
import { describeChunk, type Span, type SpeakerChunk, type SpeakerRecording } from './signals/speaker.ts';
import { definitions, type Signal, signals } from './signals/table.ts';
import { segmentSeconds } from './speech.ts';
import { type StageTimer, startStageTimer } from './stage-timer.ts';
import type { Analysis, AnalyzeRequest, RecordingContext } from './types.ts';
import { encodeUtterances } from './utterances.ts';
import { recordingWarnings } from './warnings.ts';
import type { Window } from './windows.ts';

/**
 * Called after each chunk with the seconds analysed so far and the declared duration: null when none is declared, never
 * less than what was analysed, and exact after the last chunk. The analysis waits for it.
 */
type OnChunk = (analyzedSeconds: number, durationSeconds: number | null) => void | Promise<void>;

export type Analyzer = {
  /** Calls must not overlap. @throws ServiceError for a recording that cannot be analysed */
  analyze(request: AnalyzeRequest, onChunk?: OnChunk): Promise<Analysis>;
  /** Returns null for a recording of several chunks, after decoding the first. @throws ServiceError */
  analyzeUnlessLong(request: AnalyzeRequest): Promise<Analysis | null>;
  /** Runs every model once: the first run of a session is slower. */
  warm(): Promise<void>;
};

const warmUpSeconds = 2;

/** Loads every model of `modelsDir` for the calling thread. @throws ModelError */
export async function createAnalyzer(options: {
  readonly modelsDir: string;
  readonly limits: DecodeLimits;
}): Promise<Analyzer> {
  return analyzerOf(await loadModels(options.modelsDir), options.limits);
}

export function analyzerOf(
  models: Models,
  limits: DecodeLimits,
  chunking: Chunking = defaultChunking,
): Analyzer {
  const context = { models, limits, chunking };
  return {
    analyze: async (request, onChunk = () => {}) =>
      (await analyze(request, context, { onChunk, oneChunkOnly: false })) as Analysis,
    analyzeUnlessLong: (request) => analyze(request, context, { onChunk: () => {}, oneChunkOnly: true }),
    warm: async () => {
      await replay(models, syntheticSignal(1, warmUpSeconds));
    },
  };
}

export type Context = { readonly models: Models; readonly limits: DecodeLimits; readonly chunking: Chunking };

async function analyze(
  request: AnalyzeRequest,
  context: Context,
  { onChunk, oneChunkOnly }: { readonly onChunk: OnChunk; readonly oneChunkOnly: boolean },
): Promise<Analysis | null> {
  const { models, chunking } = context;
  const timer = startStageTimer(request.cancel);
  const { sampleRate } = models.features;
  const decoder = open('audio', request.audio, request, context, timer);
  const results: ChunkResult[] = [];
  let baseline: SpeakerRecording | null = null;
  try {
    for await (const chunk of detectChunks(decoder, models, chunking, timer)) {
      if (oneChunkOnly && !chunk.isWhole) return null;
      if (results.length === 0) baseline = await describeBaseline(request, context, timer);
      results.push(await analyzeChunk(chunk, request, models, timer));
      const seconds = sum(results, ({ samples }) => samples) / sampleRate;
      const declared = decoder.declaredSeconds();
      await onChunk(seconds, chunk.isLast ? seconds : declared && Math.max(seconds, declared));
    }
    return aggregate(results, { source: decoder.source(), baseline }, request.signals, models, timer);
  } finally {
    decoder.close();
  }
}

function open(
  part: UploadPart,
  bytes: Uint8Array,
  { cancel, channel }: Pick<AnalyzeRequest, 'cancel' | 'channel'>,
  { models, limits, chunking }: Context,
  timer: StageTimer,
): IncrementalDecoder {
  const { sampleRate } = models.features;
  const options = { sampleRate, channel: part === 'audio' ? channel : null, limits, cancel };
  return openDecoder(part, bytes, options, chunking, timer);
}

/** Null when no requested signal uses one. @throws ServiceError at the part `baseline` */
async function describeBaseline(
  request: AnalyzeRequest,
  context: Context,
  timer: StageTimer,
): Promise<SpeakerRecording | null> {
  const isUsed = request.signals.some((signal) => definitions[signal].usesBaseline);
  if (request.baseline === null || !isUsed) return null;
  const seconds = Math.min(context.limits.seconds, context.chunking.singlePassMaxSeconds);
  const limits = { ...context.limits, seconds };
  const speaker = await describeSpeaker('baseline', request.baseline, request, { ...context, limits }, timer);
  const { minTotalSpeechSeconds } = context.models.vad.manifest.params;
  if (speaker.speechSeconds < minTotalSpeechSeconds) {
    const got = `${speaker.speechSeconds.toFixed(2)} s`;
    const msg = `Expected at least ${minTotalSpeechSeconds} s of speech for \`baseline\`, got ${got}`;
    throw invalidPart('baseline', 'audio.insufficient_speech', msg);
  }
  return speaker;
}

/** Decodes a recording and collects what measures need, without the trunk and the heads. */
export async function describeSpeaker(
  part: UploadPart,
  bytes: Uint8Array,
  request: Pick<AnalyzeRequest, 'cancel' | 'channel'>,
  context: Context,
  timer: StageTimer,
): Promise<SpeakerRecording> {
  const { models, chunking } = context;
  const decoder = open(part, bytes, request, context, timer);
  const chunks: (SpeakerChunk & { readonly frames: number; readonly segments: readonly Segment[] })[] = [];
  try {
    for await (const { speech } of detectChunks(decoder, models, chunking, timer)) {
      const { features, segments } = speech;
      chunks.push({ ...describeChunk(speech), frames: features.frames, segments });
    }
  } finally {
    decoder.close();
  }
  timer.mark('measures');
  return { chunks, ...spanOf(chunks, models) };
}

/** Mergeable result of a chunk, without its samples and features. Positions are frames of the chunk. */
type ChunkResult = {
  readonly samples: number;
  readonly frames: number;
  readonly speechSeconds: number;
  readonly segments: readonly Segment[];
  readonly windows: readonly Window[];
  readonly timeline: readonly Window[];
  readonly voiceLogOdds: number;
  readonly quality: SignalQuality;
  /** RMS of all samples; of the speech alone in a chunk with at least `minTotalSpeechSeconds` of it. */
  readonly levelDbfs: number;
  readonly signals: Partial<Record<Signal, unknown>>;
};

async function analyzeChunk(
  { speech, bounds, isWhole }: SpeechChunk,
  { signals: wanted, timeline: entries }: Pick<AnalyzeRequest, 'signals' | 'timeline'>,
  models: Models,
  timer: StageTimer,
): Promise<ChunkResult> {
  const { audio, features, segments, speechSeconds } = speech;
  const { samples, sampleRate } = audio;
  const quality = measureQuality(samples, sampleRate, segmentSeconds(speech));
  const hasSpeech = speechSeconds >= models.vad.manifest.params.minTotalSpeechSeconds;
  const all = Float64Array.of(0, samples.length / sampleRate);
  const { levelDbfs } = hasSpeech ? quality : measureQuality(samples, sampleRate, all);
  timer.mark('quality');
  // A chunk of a longer recording always has results: the recording may have enough speech in total.
  const windows = isWhole && !hasSpeech ? [] : await encode(speech, models, timer, bounds);
  const { framesPerToken } = models.trunk.manifest.params;
  const timeline = entries === 'windows' ? windows : encodeUtterances(speech, windows, framesPerToken);
  const results: Partial<Record<Signal, unknown>> = {};
  if (windows.length > 0 || !isWhole) {
    for (const signal of signals.filter((one) => wanted.includes(one))) {
      results[signal] = await definitions[signal].infer({ windows, timeline, speech, timer }, models[signal]);
    }
  }
  return {
    samples: samples.length,
    frames: features.frames,
    speechSeconds,
    segments,
    windows: windows.map(({ window }) => window),
    timeline: timeline.map(({ window }) => window),
    voiceLogOdds: speech.voiceLogOdds,
    quality,
    levelDbfs,
    signals: results,
  };
}

/** Segments in frames of the whole recording; pauses that a cut made too short are joined. */
function spanOf(
  results: readonly { readonly frames: number; readonly segments: readonly Segment[] }[],
  { features, vad }: Models,
): Span {
  const framesPerSecond = features.sampleRate / features.hopLength;
  const minPause = vad.manifest.params.minPauseSeconds * framesPerSecond;
  const segments = joinGaps(
    shiftToRecording(results, (result) => result.segments),
    minPause,
  );
  return { segments, framesPerSecond, speechSeconds: countFrames(segments) / framesPerSecond };
}

function shiftToRecording<Result extends { readonly frames: number }, Part extends Segment>(
  results: readonly Result[],
  partsOf: (result: Result) => readonly Part[],
): Part[] {
  let offset = 0;
  return results.flatMap((result) => {
    const from = offset;
    offset += result.frames;
    return partsOf(result).map((part) => ({ ...part, start: part.start + from, end: part.end + from }));
  });
}

function aggregate(
  results: readonly ChunkResult[],
  { source, baseline }: { readonly source: Source; readonly baseline: SpeakerRecording | null },
  wanted: readonly Signal[],
  models: Models,
  timer: StageTimer,
): Analysis {
  const span = spanOf(results, models);
  const { speechSeconds } = span;
  const { params } = models.vad.manifest;
  const windows = shiftToRecording(results, (result) => result.windows);
  const enough = speechSeconds >= params.minTotalSpeechSeconds && windows.length > 0;
  const quality = joinQualities(results);
  const conditions = { ...quality, speechSeconds, clippedRatio: source.clippedRatio };
  const timeline = shiftToRecording(results, (result) => result.timeline);
  const recording: RecordingContext = { ...span, windows, timeline, conditions, baseline };
  const aggregated = signals
    .filter((signal) => enough && wanted.includes(signal))
    .map((signal) => {
      const chunks = results.map((result) => result.signals[signal]);
      return [signal, definitions[signal].aggregate(chunks, recording, models[signal])];
    });
  const analysis = {
    audio: {
      seconds: sum(results, ({ samples }) => samples) / models.features.sampleRate,
      speechSeconds,
      source,
      ...quality,
    },
    span,
    results: Object.fromEntries(aggregated),
    insufficientSpeech: !enough,
    warnings: recordingWarnings(
      source,
      enough ? { ...quality, voiceLogOdds: meanBySpeech(results, (result) => result.voiceLogOdds) } : null,
      meanLevel(results),
      params,
    ),
    models: manifestsOf(models),
  };
  timer.mark('aggregate');
  return { ...analysis, stages: timer.stages() };
}

function manifestsOf(models: Models): Analysis['models'] {
  const entries = signals.map((signal) => [signal, models[signal].manifest] as const);
  return Object.fromEntries(entries) as Analysis['models'];
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
