/** Provisional values of a stream: its last seconds -> messages. */
import { type DecodeLimits, decode } from '../audio/addon.ts';
import type { Models } from '../models/loader.ts';
import { aggregate, analyzeChunk, type ChunkResult } from './chunk-result.ts';
import { toChunk } from './chunked.ts';
import { decideTurns, type LiveEvent, type LiveState } from './live-turns.ts';
import { bodyOf } from './report.ts';
import { round } from './rounding.ts';
import { clipSegments, type Segment } from './segments.ts';
import { compactChunk, isCumulative, parseChunk, serializeChunk } from './settled.ts';
import type { Signal } from './signals/table.ts';
import { detectSpeech, onlySpeech, type SpeechAnalysis } from './speech.ts';
import { type Stage, type StageTimer, startStageTimer } from './stage-timer.ts';
import type { Analysis } from './types.ts';

export type LiveStep = {
  readonly state: LiveState;
  /** Frames of the stream that `history` covers. */
  readonly settled: number;
  /** The chunks that earlier steps of the channel settled, as text; only read for a measurement. */
  readonly history: readonly string[];
  /** Where the samples start in the stream, s: a multiple of 0.01. */
  readonly startSeconds: number;
  readonly signals: readonly Signal[];
  /** Null: the average of all channels. */
  readonly channel: number | null;
  /** Whether a measurement is due. */
  readonly measure: boolean;
  /** Not null: the utterance ends with the samples. */
  readonly cause: 'turn.end' | 'session.end' | null;
};

/** @see LiveStep */
export type LiveRequest = LiveStep & {
  /** A WAV file of the last seconds of the stream. */
  readonly audio: Uint8Array;
  readonly cancel: Int32Array | null;
};

/** Messages to the client, without their sequence numbers. */
export type LiveMessage = { readonly type: string } & Readonly<Record<string, unknown>>;

export type LiveOutput = {
  readonly state: LiveState;
  readonly messages: readonly LiveMessage[];
  /** The next chunk of `history`, and its end in frames of the stream. */
  readonly settled: { readonly end: number; readonly chunk: string } | null;
};

export type LiveResult = LiveOutput & { readonly stages: readonly Stage[] };

/** Longer than any request: the limit of uploads may be shorter. */
const maxWindowSeconds = 60;
/** The last samples do not settle: what follows may change where speech is. */
const openSeconds = 1;
/** More samples than this settle without a measurement, while the step has them. */
const maxOpenSeconds = 10;

/** The samples of one step. */
type Step = {
  readonly request: LiveRequest;
  readonly models: Models;
  readonly timer: StageTimer;
  readonly speech: SpeechAnalysis;
  readonly source: Analysis['audio']['source'];
  /** Where the samples start, in frames of the stream. */
  readonly firstFrame: number;
};

/**
 * One pass of the trunk serves the measurement and the utterances. Without a measurement it reads the utterances alone.
 * @throws ServiceError
 */
export async function analyzeLive(
  request: LiveRequest,
  models: Models,
  limits: DecodeLimits,
): Promise<LiveResult> {
  const timer = startStageTimer(request.cancel);
  const { sampleRate } = models.features;
  const audio = decode(request.audio, {
    sampleRate,
    channel: request.channel,
    limits: { ...limits, seconds: maxWindowSeconds },
    cancel: request.cancel,
  });
  timer.mark('decode');
  const speech = await detectSpeech(audio, models, timer);
  const { params } = models.vad.manifest;
  const firstFrame = Math.round(request.startSeconds * speech.framesPerSecond);
  const step = { request, models, timer, speech, source: audio.source, firstFrame };
  const { state, events } = decideTurns(request.state, speech, firstFrame, params, request.cause);
  const turns = events.flatMap((event) => (event.type === 'turn' ? [event.span] : []));
  const isMeasured = request.measure && speech.speechSeconds >= params.minTotalSpeechSeconds;
  const spans = spansToSettle(step);
  const isWhole = isMeasured || spans.length > 0;
  const result =
    turns.length === 0 && !isWhole
      ? null
      : await analyzeSpeech(step, isWhole ? speech : onlySpeech(speech, turns), [...turns, ...spans]);
  const analysis = result && aggregateOf(step, [result], request.signals);
  const messages = events.flatMap((event) => toMessages(event, request, speech, analysis));
  const parts =
    result === null ? [] : spans.map((span) => compactChunk(result, span, speech.framesPerSecond));
  if (isMeasured && analysis !== null) messages.push(toMeasurement(step, analysis, parts));
  const { channel } = request;
  const [settled] = parts;
  return {
    state,
    messages: channel === null ? messages : messages.map((message) => ({ ...message, channel })),
    settled:
      settled === undefined
        ? null
        : { end: request.settled + settled.frames, chunk: serializeChunk(settled) },
    stages: timer.stages(),
  };
}

/** The span that settles and the one after it, or none. */
function spansToSettle({ request, speech, firstFrame }: Step): readonly Segment[] {
  const { framesPerSecond } = speech;
  const { frames } = speech.features;
  const start = request.settled - firstFrame;
  const isDue = request.measure || frames - start > maxOpenSeconds * framesPerSecond;
  if (!isDue || !request.signals.some(isCumulative)) return [];
  const end = Math.max(start, frames - openSeconds * framesPerSecond);
  return [
    { start, end },
    { start: end, end: frames },
  ];
}

/** @param timeline in frames of the step; entries without speech are left out */
function analyzeSpeech(
  { request, models, timer }: Step,
  speech: SpeechAnalysis,
  timeline: readonly Segment[],
): Promise<ChunkResult> {
  const { signals, startSeconds, cause } = request;
  // Silence replaces missing context only at the ends of the stream.
  const start = startSeconds === 0 ? Number.NEGATIVE_INFINITY : 0;
  const end = cause === 'session.end' ? Number.POSITIVE_INFINITY : speech.features.frames;
  const spoken = timeline.filter((span) => clipSegments(speech.segments, span).length > 0);
  const chunk = toChunk(speech, { start, end }, false, true);
  return analyzeChunk(chunk, { signals, timeline: spoken }, models, timer);
}

function aggregateOf(
  { source, models, timer }: Step,
  results: readonly ChunkResult[],
  signals: readonly Signal[],
): Analysis {
  return aggregate(results, { source, baselines: [] }, signals, models, timer);
}

/** An utterance without embeddings has no message. */
function toMessages(
  event: LiveEvent,
  { signals, startSeconds }: LiveRequest,
  { framesPerSecond }: SpeechAnalysis,
  analysis: Analysis | null,
): LiveMessage[] {
  if (event.type !== 'turn') {
    return [{ type: `speech.${event.type}`, at_s: round(event.frame / framesPerSecond) }];
  }
  const { span, cause } = event;
  const at = round(span.start / framesPerSecond);
  const entries = signals.flatMap((signal) => {
    const { timeline = [] } = analysis === null ? {} : bodyOf(signal, analysis);
    const entry = timeline.find(({ start_s }) => start_s === at);
    if (entry === undefined) return [];
    const { start_s: _, end_s: __, ...scores } = entry;
    return [[signal, scores] as const];
  });
  if (entries.length === 0) return [];
  const [start_s, end_s] = [span.start, span.end].map((frame) =>
    round(frame / framesPerSecond + startSeconds),
  );
  return [{ type: 'turn', start_s, end_s, cause, provisional: true, ...Object.fromEntries(entries) }];
}

/** @param recent of the samples of the step @param parts what follows the history */
function toMeasurement(step: Step, recent: Analysis, parts: readonly ChunkResult[]): LiveMessage {
  const { signals, startSeconds, history } = step.request;
  const cumulative = signals.filter(isCumulative);
  const all = [...history.map(parseChunk), ...parts];
  const soFar = all.length === 0 ? recent : aggregateOf(step, all, cumulative);
  const bodies = signals.map(
    (signal) => [signal, bodyOf(signal, isCumulative(signal) ? soFar : recent)] as const,
  );
  return {
    type: 'measurement',
    start_s: round(startSeconds),
    end_s: round(startSeconds + recent.audio.seconds),
    speech_s: round(recent.audio.speechSeconds),
    provisional: true,
    ...Object.fromEntries(bodies.map(([signal, { signals: scores }]) => [signal, scores])),
    warnings: [...new Set(bodies.flatMap(([, { warnings }]) => warnings))],
  };
}
