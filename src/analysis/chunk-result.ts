/** Result of each chunk, and their aggregation over the recording. */
import { measureQuality, type SignalQuality, type Source } from '../audio/addon.ts';
import type { Models } from '../models/loader.ts';
import { unavailableOf } from '../models/manifest.ts';
import type { SpeechChunk } from './chunked.ts';
import { encode } from './encode.ts';
import { type HeadResults, runHeads } from './heads.ts';
import { type PooledEmbeddings, weightedMean } from './pooled-embeddings.ts';
import { joinQualities, meanBySpeech, meanLevel } from './quality.ts';
import { countFrames, joinGaps, type Segment } from './segments.ts';
import type { Span, SpeakerRecording } from './signals/speaker.ts';
import { definitions, type Signal, signals } from './signals/table.ts';
import { segmentSeconds } from './speech.ts';
import type { StageTimer } from './stage-timer.ts';
import type { Analysis, RecordingContext, Timeline } from './types.ts';
import { collectSpans, cutUtterances } from './utterances.ts';
import { soundLikeSeveral, type Voice } from './voices.ts';
import { recordingWarnings } from './warnings.ts';
import type { Window } from './windows.ts';

/** Mergeable result of a chunk, without its samples and features. Positions are frames of the chunk. */
export type ChunkResult = {
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
  readonly voices: readonly Voice[];
  /** Empty when not requested. */
  readonly embeddings: {
    readonly windows: readonly Float32Array[];
    readonly timeline: readonly Float32Array[];
  };
};

type ChunkRequest = {
  readonly signals: readonly Signal[];
  readonly timeline: Timeline | readonly Segment[];
  readonly embeddings?: boolean;
};

/** @param timeline the entries, or their spans in frames of the chunk */
export async function analyzeChunk(
  { speech, allSegments, bounds, isWhole }: SpeechChunk,
  { signals: wanted, timeline: entries, embeddings = false }: ChunkRequest,
  models: Models,
  timer: StageTimer,
): Promise<ChunkResult> {
  const { audio, features, segments, speechSeconds } = speech;
  const { samples, sampleRate } = audio;
  const quality = measureQuality(samples, sampleRate, segmentSeconds({ ...speech, segments: allSegments }));
  const hasSpeech = speechSeconds >= models.vad.manifest.params.minTotalSpeechSeconds;
  const all = Float64Array.of(0, samples.length / sampleRate);
  const { levelDbfs } = hasSpeech ? quality : measureQuality(samples, sampleRate, all);
  timer.mark('quality');
  // A chunk of a longer recording always has results: the recording may have enough speech in total.
  const isUsable = hasSpeech || !isWhole;
  const chosen = isUsable ? available(models).filter((signal) => wanted.includes(signal)) : [];
  const started = chosen.map((signal) => ({ signal, prepared: definitions[signal].prepare?.(speech) }));
  const { framesPerToken, severalSpeakers } = models.trunk.manifest.params;
  // Spans of the caller are those of a live step: only the report of the whole recording compares voices.
  const isLive = typeof entries !== 'string';
  const minVoiceSeconds = isLive ? undefined : severalSpeakers?.minUtteranceSeconds;
  const { windows, timeline, voices } = await runHeads(
    isUsable ? encode(speech, models, timer, bounds) : [],
    collectSpans(isLive ? entries : cutUtterances(speech), framesPerToken),
    {
      signals: chosen,
      windowsOnly: entries === 'windows',
      minVoiceFrames: (minVoiceSeconds ?? Number.POSITIVE_INFINITY) * speech.framesPerSecond,
      embeddings,
    },
    models,
    timer,
  );
  const results: Partial<Record<Signal, unknown>> = {};
  for (const { signal, prepared } of started) {
    const rowsOf = (parts: HeadResults['windows']) => parts.map(({ rows }) => rows[signal]);
    const rows = { windows: rowsOf(windows), timeline: rowsOf(timeline) };
    results[signal] = await definitions[signal].infer({ rows, speech, timer, prepared }, models[signal]);
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
    voices,
    embeddings: { windows: embeddingsOf(windows), timeline: embeddingsOf(timeline) },
  };
}

function available(models: Models): Signal[] {
  return signals.filter((signal) => unavailableOf(models[signal].manifest) === null);
}

/** Empty when not requested. */
function embeddingsOf(parts: HeadResults['windows']): Float32Array[] {
  return parts.flatMap(({ embedding }) => embedding ?? []);
}

/** Segments in frames of the whole recording; pauses that a cut made too short are joined. */
export function spanOf(
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

export function aggregate(
  results: readonly ChunkResult[],
  { source, baselines }: { readonly source: Source; readonly baselines: readonly SpeakerRecording[] },
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
  const recording: RecordingContext = { ...span, windows, timeline, conditions, baselines };
  const aggregated = available(models)
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
    embeddings: enough ? joinEmbeddings(results, recording) : null,
    samplesSha256: null,
    insufficientSpeech: !enough,
    warnings: recordingWarnings(
      source,
      enough ? { ...quality, ...voiceProperties(results, models) } : null,
      meanLevel(results),
      params,
    ),
    models: manifestsOf(models),
  };
  timer.mark('aggregate');
  return { ...analysis, stages: timer.stages() };
}

function joinEmbeddings(
  results: readonly ChunkResult[],
  { windows, timeline, framesPerSecond }: RecordingContext,
): PooledEmbeddings | null {
  const perWindow = results.flatMap(({ embeddings }) => embeddings.windows);
  if (perWindow.length === 0) return null;
  return {
    recording: weightedMean(
      perWindow,
      windows.map(({ speechFrames }) => speechFrames),
    ),
    timeline: results
      .flatMap(({ embeddings }) => embeddings.timeline)
      .map((embedding, index) => {
        const { start, end } = timeline[index] as Window;
        return { start: start / framesPerSecond, end: end / framesPerSecond, embedding };
      }),
  };
}

function voiceProperties(results: readonly ChunkResult[], { trunk }: Models) {
  const { severalSpeakers: params } = trunk.manifest.params;
  const voices = results.flatMap((result) => result.voices);
  return {
    voiceLogOdds: meanBySpeech(results, (result) => result.voiceLogOdds),
    severalSpeakers: params !== undefined && soundLikeSeveral(voices, params),
  };
}

function manifestsOf(models: Models): Analysis['models'] {
  const entries = signals.map((signal) => [signal, models[signal].manifest] as const);
  return Object.fromEntries(entries) as Analysis['models'];
}

export function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
