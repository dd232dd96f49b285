/** Provisional values of a stream: its last seconds -> messages. */
import { type DecodeLimits, decode } from '../audio/addon.ts';
import type { Models } from '../models/loader.ts';
import { aggregate, analyzeChunk } from './chunk-result.ts';
import { toChunk } from './chunked.ts';
import { decideTurns, type LiveEvent, type LiveState } from './live-turns.ts';
import { bodyOf } from './report.ts';
import { round } from './rounding.ts';
import type { Segment } from './segments.ts';
import type { Signal } from './signals/table.ts';
import { detectSpeech, onlySpeech, type SpeechAnalysis } from './speech.ts';
import { type Stage, type StageTimer, startStageTimer } from './stage-timer.ts';
import type { Analysis } from './types.ts';

export type LiveStep = {
  readonly state: LiveState;
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

export type LiveOutput = { readonly state: LiveState; readonly messages: readonly LiveMessage[] };

export type LiveResult = LiveOutput & { readonly stages: readonly Stage[] };

/** Longer than any request: the limit of uploads may be shorter. */
const maxWindowSeconds = 60;

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
  const { state, events } = decideTurns(request.state, speech, firstFrame, params, request.cause);
  const turns = events.flatMap((event) => (event.type === 'turn' ? [event.span] : []));
  const measure = request.measure && speech.speechSeconds >= params.minTotalSpeechSeconds;
  const analysis =
    turns.length === 0 && !measure
      ? null
      : await analyzeSpeech(
          measure ? speech : onlySpeech(speech, turns),
          audio.source,
          turns,
          request,
          models,
          timer,
        );
  const messages = events.flatMap((event) => toMessages(event, request, speech, analysis));
  if (measure && analysis !== null) messages.push(toMeasurement(analysis, request));
  const { channel } = request;
  return {
    state,
    messages: channel === null ? messages : messages.map((message) => ({ ...message, channel })),
    stages: timer.stages(),
  };
}

async function analyzeSpeech(
  speech: SpeechAnalysis,
  source: Analysis['audio']['source'],
  timeline: readonly Segment[],
  { signals, startSeconds, cause }: LiveRequest,
  models: Models,
  timer: StageTimer,
): Promise<Analysis> {
  // Silence replaces missing context only at the ends of the stream.
  const start = startSeconds === 0 ? Number.NEGATIVE_INFINITY : 0;
  const end = cause === 'session.end' ? Number.POSITIVE_INFINITY : speech.features.frames;
  const chunk = toChunk(speech, { start, end }, true, true);
  const result = await analyzeChunk(chunk, { signals, timeline }, models, timer);
  return aggregate([result], { source, baseline: null }, signals, models, timer);
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

function toMeasurement(analysis: Analysis, { signals, startSeconds }: LiveRequest): LiveMessage {
  const bodies = signals.map((signal) => [signal, bodyOf(signal, analysis)] as const);
  return {
    type: 'measurement',
    start_s: round(startSeconds),
    end_s: round(startSeconds + analysis.audio.seconds),
    speech_s: round(analysis.audio.speechSeconds),
    provisional: true,
    ...Object.fromEntries(bodies.map(([signal, { signals: scores }]) => [signal, scores])),
    warnings: [...new Set(bodies.flatMap(([, { warnings }]) => warnings))],
  };
}
