/** Result of each chunk, and their aggregation over the recording. */

import { weightedMean } from './arrays.ts';
import type { SpeechChunk } from './chunks.ts';
import {
  minVoiceFrames,
  type Scored,
  type ScoreRequest,
  scoreRuns,
  scoreUtterances,
  type Totals,
} from './embeddings.ts';
import { type Gap, missingAudio } from './gaps.ts';
import type { Models } from './loader.ts';
import { type Manifest, unavailableOf } from './manifest.ts';
import type { SignalQuality, Source } from './platform.ts';
import {
  createQualityMeter,
  joinQualities,
  meanBySpeech,
  meanLevel,
  type NoiseLevel,
  noNoise,
} from './quality.ts';
import type { RecordingContext } from './signals/definition.ts';
import type { Span } from './signals/speaker.ts';
import { definitions, type ResultOf, type Signal, signals } from './signals/table.ts';
import { countFrames, joinGaps, meanOver, type Segment, segmentSeconds, shift } from './speech.ts';
import type { Stage, StageTimer } from './timer.ts';
import { cutUtterances } from './utterances.ts';
import { type SpeakerMode, soundLikeSeveral } from './voices.ts';
import { recordingWarnings, type Warning } from './warnings.ts';

/** Mergeable result of a chunk, without its samples and features. Positions are frames of the chunk. */
export type ChunkResult = {
  readonly samples: number;
  readonly frames: number;
  readonly speechSeconds: number;
  readonly segments: readonly Segment[];
  /** Of all speakers. */
  readonly allSegments: readonly Segment[];
  readonly gaps: readonly Gap[];
  readonly utterances: readonly Scored[];
  /** All runs of a chunk without an utterance, scored as one; null without speech. */
  readonly runs: { readonly scored: Scored; readonly totals: Totals } | null;
  /** Of all utterances up to the end of the chunk. */
  readonly totals: Totals;
  readonly noise: NoiseLevel;
  readonly voiceLogOdds: number;
  readonly quality: SignalQuality;
  /** Whether gaps left no noise in the pauses: `snrDb` is of the quietest speech. */
  readonly lacksNoise: boolean;
  /** RMS of all samples; of the speech alone in a chunk with at least `minTotalSpeechSeconds` of it. */
  readonly levelDbfs: number;
  readonly signals: Partial<Record<Signal, unknown>>;
};

type ChunkRequest = {
  readonly signals: readonly Signal[];
  readonly embeddings?: boolean;
  readonly speakers: SpeakerMode | null;
};

/** @param previous the chunk before */
export async function analyzeChunk(
  chunk: SpeechChunk,
  { signals: wanted, embeddings = false, speakers }: ChunkRequest,
  previous: ChunkResult | undefined,
  models: Models,
  timer: StageTimer,
): Promise<ChunkResult> {
  const { speech, allSegments, isWhole } = chunk;
  const { audio, segments, speechSeconds } = speech;
  const { samples, sampleRate } = audio;
  const { measureQuality } = models.platform;
  const quality = measureQuality(samples, sampleRate, segmentSeconds({ ...speech, segments: allSegments }));
  const hasSpeech = speechSeconds >= models.vad.manifest.params.minTotalSpeechSeconds;
  const all = Float64Array.of(0, samples.length / sampleRate);
  const { levelDbfs } = hasSpeech ? quality : measureQuality(samples, sampleRate, all);
  timer.mark('quality');
  // A chunk of a longer recording always has results: the recording may have enough speech in total.
  const isUsable = hasSpeech || !isWhole;
  const chosen = isUsable ? available(models).filter((signal) => wanted.includes(signal)) : [];
  const started = chosen.map((signal) => ({
    signal,
    prepared: definitions[signal].prepare?.(speech, models.platform),
  }));
  // In one chunk of a longer recording a single voice may speak.
  const mode = speakers === '2' && !isWhole ? 'auto' : speakers;
  const request: ScoreRequest = { signals: chosen, embeddings, voices: mode ?? 'compare' };
  const scored = await scoreChunk(chunk, isUsable, previous, request, models, timer);
  const results: Partial<Record<Signal, unknown>> = {};
  for (const { signal, prepared } of started) {
    results[signal] = await definitions[signal].infer?.({ speech, timer, prepared }, models[signal]);
  }
  return {
    samples: samples.length,
    speechSeconds,
    allSegments,
    ...scored,
    voiceLogOdds: meanOver(segments, speech.voiceLogOdds),
    quality,
    lacksNoise: chunk.lacksNoise,
    levelDbfs,
    signals: results,
  };
}

export type ScoredChunk = Pick<
  ChunkResult,
  'frames' | 'segments' | 'gaps' | 'utterances' | 'runs' | 'totals' | 'noise'
>;

/** @param isUsable whether it is scored */
export async function scoreChunk(
  { speech, allSegments, gaps, bounds, previousEnd, isWhole }: SpeechChunk,
  isUsable: boolean,
  previous: ScoredChunk | undefined,
  request: ScoreRequest,
  models: Models,
  timer: StageTimer,
): Promise<ScoredChunk> {
  const meter = createQualityMeter(
    { ...speech, segments: allSegments },
    previous?.noise ?? noNoise,
    models.features,
  );
  const cut = cutUtterances(speech, models.trunk.manifest.params, bounds, previousEnd);
  const before = previous?.totals ?? {};
  const isScored = isUsable && cut.length > 0;
  const isCompared = request.voices !== 'compare' || !isWhole || mayBeSeveral(cut, models);
  const own = isCompared ? request : { ...request, voices: null };
  const { scored, totals } = isScored
    ? await scoreUtterances(speech, cut, meter, before, own, models, timer)
    : { scored: [], totals: before };
  const runs = isUsable && !isScored ? await scoreRuns(speech, meter, own, models, timer) : null;
  const { segments, power } = speech;
  return { frames: power.length, segments, gaps, utterances: scored, runs, totals, noise: meter.noise() };
}

/** The utterances of a recording, or its runs as one. */
export function utterancesOf(results: readonly ScoredChunk[]): Scored[] {
  const hasUtterances = results.some(({ utterances }) => utterances.length > 0);
  return shiftToRecording(results, ({ utterances, runs }) =>
    hasUtterances ? utterances : runs === null ? [] : [runs.scored],
  );
}

/** Signals that the models have. */
export function available(models: Models): Signal[] {
  return signals.filter((signal) => unavailableOf(models[signal].manifest) === null);
}

/** Segments in frames of the whole recording; pauses that a cut made too short are joined. */
export function spanOf(
  results: readonly Pick<ChunkResult, 'frames' | 'segments' | 'gaps'>[],
  { features, vad }: Models,
): Span {
  const framesPerSecond = features.sampleRate / features.hopLength;
  const minPause = vad.manifest.params.minPauseSeconds * framesPerSecond;
  const segments = joinGaps(
    shiftToRecording(results, (result) => result.segments),
    minPause,
  );
  const gaps = shiftToRecording(results, (result) => result.gaps);
  return {
    segments,
    missing: missingAudio(gaps, framesPerSecond),
    framesPerSecond,
    speechSeconds: countFrames(segments) / framesPerSecond,
  };
}

export function shiftToRecording<Result extends { readonly frames: number }, Part extends Segment>(
  results: readonly Result[],
  partsOf: (result: Result) => readonly Part[],
): Part[] {
  let offset = 0;
  return results.flatMap((result) => {
    const from = offset;
    offset += result.frames;
    return shift(partsOf(result), from);
  });
}

/** Mean embeddings, weighted by speech; times in seconds. */
export type PooledEmbeddings = {
  readonly recording: Float32Array;
  /** One per utterance. */
  readonly timeline: readonly {
    readonly start: number;
    readonly end: number;
    readonly embedding: Float32Array;
  }[];
};

export type Analysis = {
  readonly audio: {
    readonly seconds: number;
    readonly speechSeconds: number;
    readonly source: Source;
  } & SignalQuality;
  /** Speech of the whole recording. */
  readonly span: Span;
  /** Speech of none of several speakers on one channel, in frames; the same for each of them. */
  readonly unassigned: readonly Segment[];
  /** A signal is absent when not requested, or with too little speech. */
  readonly results: { readonly [S in Signal]?: ResultOf<S> };
  /** Null when not requested, or with too little speech. */
  readonly embeddings: PooledEmbeddings | null;
  /** SHA-256 of the decoded samples, float32 of little-endian byte order; null when not requested. */
  readonly samplesSha256: string | null;
  readonly insufficientSpeech: boolean;
  readonly warnings: readonly Warning[];
  readonly models: Readonly<Record<Signal, Manifest>>;
  /** From the start of the request. */
  readonly stages: readonly Stage[];
};

type Aggregated = {
  readonly source: Source;
  /** Whether the samples are the average of all channels. */
  readonly averaged: boolean;
  readonly trackChosen: boolean;
} & Pick<RecordingContext, 'baselines' | 'others'> &
  Pick<Analysis, 'unassigned'>;

export function aggregate(
  results: readonly ChunkResult[],
  { source, averaged, trackChosen, baselines, others, unassigned }: Aggregated,
  wanted: readonly Signal[],
  models: Models,
  timer: StageTimer,
): Analysis {
  const span = spanOf(results, models);
  const missingSeconds = countFrames(span.missing) / span.framesPerSecond;
  const { params } = models.vad.manifest;
  const utterances = utterancesOf(results);
  const enough = span.speechSeconds >= params.minTotalSpeechSeconds && utterances.length > 0;
  const quality = joinQualities(results);
  const { snrDb } = joinQualities(results.map(withMeasuredNoise));
  const totals = results.some((result) => result.utterances.length > 0)
    ? results.at(-1)?.totals
    : results.find(({ runs }) => runs !== null)?.runs?.totals;
  const recording: RecordingContext = {
    ...span,
    others,
    utterances,
    totals: totals ?? {},
    conditions: { ...quality, speechSeconds: span.speechSeconds, clippedRatio: source.clippedRatio },
    baselines,
  };
  const aggregated = available(models)
    .filter((signal) => enough && wanted.includes(signal))
    .map((signal) => {
      const chunks = results.map((result) => result.signals[signal]);
      return [signal, definitions[signal].aggregate(chunks, recording, models[signal])];
    });
  const analysis = {
    audio: {
      seconds: sum(results, ({ samples }) => samples) / models.features.sampleRate,
      speechSeconds: span.speechSeconds,
      source,
      ...quality,
      snrDb,
    },
    span,
    unassigned,
    results: Object.fromEntries(aggregated),
    embeddings: enough ? poolEmbeddings(utterances, span.framesPerSecond) : null,
    samplesSha256: null,
    insufficientSpeech: !enough,
    warnings: recordingWarnings(
      {
        source: { ...source, averaged, trackChosen, missingSeconds },
        spoken: enough
          ? { ...quality, snrDb, severalSpeakers: hasSeveralSpeakers(utterances, models) }
          : null,
        voiceLogOdds: span.speechSeconds > 0 ? meanBySpeech(results, (result) => result.voiceLogOdds) : null,
        levelDbfs: meanLevel(results),
      },
      params,
    ),
    models: manifestsOf(models),
  };
  timer.mark('aggregate');
  return { ...analysis, stages: timer.stages() };
}

function withMeasuredNoise(result: ChunkResult): ChunkResult {
  return result.lacksNoise ? { ...result, quality: { ...result.quality, snrDb: null } } : result;
}

function poolEmbeddings(utterances: readonly Scored[], framesPerSecond: number): PooledEmbeddings | null {
  const timeline = utterances.flatMap(({ start, end, embedding }) =>
    embedding === null ? [] : [{ start: start / framesPerSecond, end: end / framesPerSecond, embedding }],
  );
  if (timeline.length === 0) return null;
  const recording = weightedMean(
    timeline.map(({ embedding }) => embedding),
    utterances.map(({ speechFrames }) => speechFrames),
  );
  return { recording: Float32Array.from(recording), timeline };
}

/** Whether a whole recording has enough utterances to sound like several speakers. */
function mayBeSeveral(utterances: readonly { readonly speechFrames: number }[], models: Models): boolean {
  const minFrames = minVoiceFrames(models);
  const { minUtterances = 0 } = models.trunk.manifest.params.severalSpeakers ?? {};
  return utterances.filter(({ speechFrames }) => speechFrames >= minFrames).length >= 2 * minUtterances;
}

function hasSeveralSpeakers(utterances: readonly Scored[], models: Models): boolean {
  const { severalSpeakers: params } = models.trunk.manifest.params;
  const minFrames = minVoiceFrames(models);
  const voices = utterances.flatMap(({ voice, speechFrames }) =>
    voice !== null && speechFrames >= minFrames ? [voice] : [],
  );
  return params !== undefined && soundLikeSeveral(voices, params);
}

export function manifestsOf(models: Models): Analysis['models'] {
  const entries = signals.map((signal) => [signal, models[signal].manifest] as const);
  return Object.fromEntries(entries) as Analysis['models'];
}

export function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
