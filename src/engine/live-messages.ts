/** Messages of a stream: an utterance, and a measurement. */

import { sum, weightedMean } from './arrays.ts';
import type { Scored, Totals } from './embeddings.ts';
import { available, type Models, manifestsOf } from './loader.ts';
import type { Source } from './platform.ts';
import { bodyOf, type SignalAnalysis } from './report.ts';
import { round } from './rounding.ts';
import { clipSegments, countFrames, type Segment } from './segments.ts';
import type { RecordingContext } from './signals/definition.ts';
import { definitions, type Signal } from './signals/table.ts';
import type { SpeakerMode } from './voices.ts';
import { recordingWarnings } from './warnings.ts';

/** Messages to the client, without their sequence numbers. */
export type LiveMessage = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Emotion of a measurement is that of the utterances of the last seconds. */
export const recentSeconds = 10;

/** Speech of a stream so far, in frames of the stream, as measurements need it. */
export type SpeechSoFar = {
  readonly segments: readonly Segment[];
  /** Of the other channel of a split stream, in measurements. */
  readonly others?: readonly Segment[] | undefined;
  /** What each signal added up over it. */
  readonly totals: Readonly<Partial<Record<Signal, unknown>>>;
  /** Log odds that it is speech and no other sound, summed over its frames. */
  readonly voice: { readonly sum: number; readonly frames: number };
};

export const noSpeech: SpeechSoFar = { segments: [], totals: {}, voice: { sum: 0, frames: 0 } };

/** What every message of a step depends on. */
export type MessageContext = {
  readonly signals: readonly Signal[];
  /** Each of two channels alone. */
  readonly split: boolean;
  /** Not null: turns have a speaker. */
  readonly speakers: SpeakerMode | null;
  readonly models: Models;
  readonly source: Source;
};

export function scoredSignals({ signals, models }: MessageContext): Signal[] {
  return available(models).filter((signal) => signals.includes(signal));
}

type Entry = Readonly<Record<string, unknown>>;

/** @param earlier utterances of all speakers */
export function toTurn(
  utterance: Scored,
  earlier: readonly Scored[],
  cause: string,
  provisional: boolean,
  context: MessageContext,
): LiveMessage {
  const { chunkVoice: voice } = utterance;
  const isSeparate = context.speakers !== null;
  const compared = isSeparate ? earlier.filter(({ chunkVoice }) => chunkVoice === voice) : earlier;
  const ofSpeaker = isSeparate && voice === null ? [] : compared;
  const analysis = toAnalysis([utterance], ofSpeaker, {}, null, context);
  const withoutBounds = ({ start_s: _, end_s: __, ...entry }: Entry) => entry;
  const entries = context.signals.flatMap((signal) => {
    const body = bodyOf(signal, analysis) as {
      timeline?: readonly Entry[];
      moments?: readonly Entry[] | null;
    };
    const [moment] = (body.moments ?? []).map(withoutBounds);
    const added = moment && { moment };
    return (body.timeline ?? []).map((entry) => [signal, { ...withoutBounds(entry), ...added }] as const);
  });
  const { sampleRate, hopLength } = context.models.features;
  const framesPerSecond = sampleRate / hopLength;
  return {
    type: 'turn',
    start_s: round(utterance.start / framesPerSecond),
    end_s: round(utterance.end / framesPerSecond),
    cause,
    provisional,
    ...(isSeparate && { speaker: voice === null ? null : String(voice + 1) }),
    ...Object.fromEntries(entries),
  };
}

/**
 * Emotion of the last seconds, cognitive signals of the session so far. None without enough speech.
 * @param now end of the stream, in frames
 */
export function toMeasurement(
  soFar: SpeechSoFar,
  now: number,
  recent: readonly Scored[],
  totals: Totals,
  context: MessageContext,
): LiveMessage[] {
  const { features, vad } = context.models;
  const framesPerSecond = features.sampleRate / features.hopLength;
  const { minTotalSpeechSeconds } = vad.manifest.params;
  const window = { start: Math.max(0, now - recentSeconds * framesPerSecond), end: now };
  const speechSeconds = countFrames(clipSegments(soFar.segments, window)) / framesPerSecond;
  if (speechSeconds < minTotalSpeechSeconds || recent.length === 0) return [];
  const analysis = toAnalysis(recent, [], totals, soFar, context);
  const bodies = context.signals.map((signal) => [signal, bodyOf(signal, analysis)] as const);
  return [
    {
      type: 'measurement',
      start_s: round(window.start / framesPerSecond),
      end_s: round(now / framesPerSecond),
      speech_s: round(speechSeconds),
      provisional: true,
      ...Object.fromEntries(bodies.map(([signal, { signals: scores }]) => [signal, scores])),
      warnings: [...new Set(bodies.flatMap(([, { warnings }]) => warnings))],
    },
  ];
}

/** @param soFar null: only the timeline and the moments are read */
function toAnalysis(
  utterances: readonly Scored[],
  earlier: readonly Scored[],
  totals: Totals,
  soFar: SpeechSoFar | null,
  context: MessageContext,
): SignalAnalysis {
  const { models, source, split } = context;
  const { features, vad } = models;
  const framesPerSecond = features.sampleRate / features.hopLength;
  const [snrDb = 0, bandwidthHz = 0, clippedRatio = 0] = weightedMean(
    utterances.map(({ quality }) => [quality.snrDb, quality.bandwidthHz, quality.clippedRatio]),
    utterances.map(({ speechFrames }) => speechFrames),
  );
  const quality = { snrDb, bandwidthHz, levelDbfs: 0 };
  const utteranceSeconds = sum(utterances, ({ speechFrames }) => speechFrames) / framesPerSecond;
  const { segments, totals: speechTotals, voice, others } = soFar ?? noSpeech;
  const speechSeconds = countFrames(segments) / framesPerSecond;
  const recording: RecordingContext = {
    segments,
    missing: [],
    framesPerSecond,
    speechSeconds,
    others,
    speechTotals,
    utterances,
    earlier,
    totals,
    conditions: { ...quality, speechSeconds, clippedRatio },
    baselines: [],
  };
  // Without totals of the session, the scores are those of the utterances alone.
  const ofUtterances = {
    ...recording,
    speechSeconds: utteranceSeconds,
    conditions: { ...recording.conditions, speechSeconds: utteranceSeconds },
  };
  const contextOf = (signal: Signal) => (definitions[signal].addTo === undefined ? ofUtterances : recording);
  const wanted = scoredSignals(context).filter(
    (signal) => soFar !== null || definitions[signal].addTo === undefined,
  );
  const recorded = { ...source, clippedRatio, averaged: !split, trackChosen: false, missingSeconds: 0 };
  const voiceLogOdds = voice.sum / Math.max(1, voice.frames);
  const spoken = { ...quality, severalSpeakers: false };
  return {
    results: Object.fromEntries(
      wanted.map((signal) => [signal, definitions[signal].aggregate([], contextOf(signal), models[signal])]),
    ),
    insufficientSpeech: false,
    warnings:
      soFar === null
        ? []
        : recordingWarnings({ source: recorded, spoken, voiceLogOdds, levelDbfs: 0 }, vad.manifest.params),
    models: manifestsOf(models),
  };
}
