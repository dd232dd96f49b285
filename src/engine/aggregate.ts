/** The results of all chunks -> the analysis of the recording. */
import type { ChunkResult, ScoredChunk } from './analyze-chunk.ts';
import { sum, weightedMean } from './arrays.ts';
import type { Scored } from './embeddings.ts';
import type { Stage } from './execution.ts';
import { missingAudio } from './gaps.ts';
import { available, type Models, manifestsOf } from './loader.ts';
import type { Manifest } from './manifest.ts';
import type { SignalQuality, Source } from './platform.ts';
import { joinQualities, meanBySpeech, meanLevel } from './quality.ts';
import { countFrames, joinGaps, type Segment, shift } from './segments.ts';
import { isComparable, similarityOfTwo } from './several-speakers.ts';
import type { RecordingContext } from './signals/definition.ts';
import type { Span } from './signals/speaker.ts';
import { definitions, type ResultOf, type Signal } from './signals/table.ts';
import { recordingWarnings, type Warning } from './warnings.ts';

/** The utterances of a recording, or its runs as one. */
export function utterancesOf(results: readonly ScoredChunk[]): Scored[] {
  const hasUtterances = results.some(({ utterances }) => utterances.length > 0);
  return shiftToRecording(results, ({ utterances, runs }) =>
    hasUtterances ? utterances : runs === null ? [] : [runs.scored],
  );
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
  /** Whether the caller or the service has said who speaks when. */
  readonly isSeparated: boolean;
} & Pick<RecordingContext, 'baselines' | 'others'> &
  Pick<Analysis, 'unassigned'>;

export function aggregate(
  results: readonly ChunkResult[],
  { source, averaged, trackChosen, isSeparated, baselines, others, unassigned }: Aggregated,
  wanted: readonly Signal[],
  models: Models,
): Omit<Analysis, 'samplesSha256' | 'stages'> {
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
  return {
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
    insufficientSpeech: !enough,
    warnings: recordingWarnings(
      {
        source: { ...source, averaged, trackChosen, missingSeconds },
        spoken: enough
          ? {
              ...quality,
              snrDb,
              severalSpeakers: hasSeveralSpeakers(results, recording, models) ?? (isSeparated ? false : null),
            }
          : null,
        voiceLogOdds: span.speechSeconds > 0 ? meanBySpeech(results, (result) => result.voiceLogOdds) : null,
        levelDbfs: meanLevel(results),
      },
      params,
    ),
    models: manifestsOf(models),
  };
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

/** @returns null with too little speech of two utterances or more */
function hasSeveralSpeakers(
  results: readonly ChunkResult[],
  { utterances, framesPerSecond }: RecordingContext,
  models: Models,
): boolean | null {
  const { severalSpeakers: params } = models.trunk.manifest.params;
  if (params === undefined || utterances.length < 2) return false;
  const compared = utterances.filter((one) => isComparable(one, params, framesPerSecond));
  const windows = results.flatMap(({ windowVoices }) => windowVoices);
  if (compared.length < 2 || sum(windows, ({ seconds }) => seconds) < 2 * params.minSeconds) return null;
  const similarity = similarityOfTwo(windows, params);
  return similarity !== null && similarity < params.maxSimilarity;
}
