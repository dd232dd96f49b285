/** A stream, step by step: bytes -> frames -> utterances, each scored once -> messages. */
import { type Audio, type DecodeLimits, decode, openChannelDecoders, type Source } from '../audio/addon.ts';
import { frameBytesOf, type SampleFormat, wavHeader } from '../audio/wav.ts';
import type { Models } from '../models/loader.ts';
import { unavailableOf } from '../models/manifest.ts';
import { type Scored, scoreUtterances, type Totals } from './encode.ts';
import { createQualityMeter, type NoiseLevel, noNoise } from './quality.ts';
import { bodyOf } from './report.ts';
import { round } from './rounding.ts';
import { clipSegments, countFrames, joinGaps, meanOver, type Segment } from './segments.ts';
import { addSyllables, noSyllables, type SyllableTotals } from './signals/measures.ts';
import { definitions, type Signal } from './signals/table.ts';
import {
  analyzeSpeech,
  type DetectorState,
  detectFrames,
  type FrameBlock,
  initialDetectorState,
  joinFrames,
  type SpeechAnalysis,
  sliceFrames,
} from './speech.ts';
import { type Stage, type StageTimer, startStageTimer } from './stage-timer.ts';
import type { Analysis, RecordingContext } from './types.ts';
import { cutUtterances, maxGapSeconds, type Utterance } from './utterances.ts';
import { recordingWarnings } from './warnings.ts';

export type LiveStep = {
  readonly format: SampleFormat;
  /** What came since the last step: whole frames of samples. */
  readonly bytes: Uint8Array;
  /** Of the previous step; null at the start. */
  readonly state: LiveState | null;
  readonly signals: readonly Signal[];
  /** Each of two channels alone. */
  readonly split: boolean;
  /** Whether a measurement is due. */
  readonly measure: boolean;
  /** Not null: the client ended the turn, or the session, at the end of the bytes. */
  readonly cause: 'turn.end' | 'session.end' | null;
};

/** Structured-clonable: some 100 kB a channel, and the features of an open utterance, at most 350 kB. */
export type LiveState = {
  /** The last bytes, which decoding continues from. */
  readonly bytes: Uint8Array;
  /** Samples of the stream, at the rate of the models, before `bytes`. */
  readonly start: number;
  /** Samples of the stream, at the rate of the models, that were read. */
  readonly read: number;
  readonly channels: readonly ChannelState[];
};

type ChannelState = {
  readonly detector: DetectorState;
  /** Frames from the end of the last utterance on, without the silence after it. */
  readonly frames: FrameBlock | null;
  /** Frames of the stream before `frames`. */
  readonly offset: number;
  /** End of the last utterance, in frames of the stream. */
  readonly utteranceEnd: number;
  /** Start of the speech that has started and not ended, and everything before which has been announced. */
  readonly speaking: boolean;
  readonly announced: number;
  readonly noise: NoiseLevel;
  readonly totals: Totals;
  /** Speech before `frames`, in frames of the stream. */
  readonly segments: readonly Segment[];
  readonly syllables: SyllableTotals;
  readonly voice: { readonly sum: number; readonly frames: number };
  /** Utterances of the last seconds, in frames of the stream. */
  readonly recent: readonly Scored[];
};

/** Messages to the client, without their sequence numbers. */
export type LiveMessage = { readonly type: string } & Readonly<Record<string, unknown>>;
export type LiveOutput = { readonly state: LiveState; readonly messages: readonly LiveMessage[] };
export type LiveResult = LiveOutput & { readonly stages: readonly Stage[] };

/** Emotion of a measurement is that of the utterances of the last seconds. */
const recentSeconds = 10;
/** Longer than any step. */
const maxStepSeconds = 120;
/** Context of the resampler: samples so near to the end of the bytes wait for the next step. */
const resamplerSeconds = 0.02;

type Step = Omit<LiveStep, 'bytes' | 'state'> & {
  readonly models: Models;
  readonly timer: StageTimer;
  readonly source: Source;
  /** Seconds of the stream. */
  readonly seconds: number;
};

/** @throws ServiceError */
export async function analyzeLive(
  { bytes, state, ...step }: LiveStep & { readonly cancel: Int32Array | null },
  models: Models,
  limits: DecodeLimits,
): Promise<LiveResult> {
  const timer = startStageTimer(step.cancel);
  const before = state ?? initialState(step.split ? 2 : 1, models);
  const decoded = decodeNext(before, bytes, step, models, limits);
  timer.mark('decode');
  const seconds = decoded.state.read / models.features.sampleRate;
  const channels: ChannelState[] = [];
  const messages: LiveMessage[] = [];
  for (const [channel, samples] of decoded.channels.entries()) {
    const own = before.channels[channel] as ChannelState;
    const output = await analyzeChannel(own, samples, {
      ...step,
      models,
      timer,
      source: decoded.source,
      seconds,
    });
    channels.push(output.state);
    messages.push(...output.messages.map((message) => (step.split ? { ...message, channel } : message)));
  }
  return { state: { ...decoded.state, channels }, messages, stages: timer.stages() };
}

function initialState(channels: number, models: Models): LiveState {
  const channel: ChannelState = {
    detector: initialDetectorState(models),
    frames: null,
    offset: 0,
    utteranceEnd: Number.NEGATIVE_INFINITY,
    speaking: false,
    announced: 0,
    noise: noNoise,
    totals: {},
    segments: [],
    syllables: noSyllables,
    voice: { sum: 0, frames: 0 },
    recent: [],
  };
  return {
    bytes: new Uint8Array(0),
    start: 0,
    read: 0,
    channels: Array.from({ length: channels }, () => channel),
  };
}

/** The samples that follow those that were read. Bytes are cut where both sample rates have a sample. */
function decodeNext(
  state: LiveState,
  bytes: Uint8Array,
  {
    format,
    split,
    cause,
    cancel,
  }: Pick<LiveStep, 'format' | 'split' | 'cause'> & { readonly cancel: Int32Array | null },
  models: Models,
  limits: DecodeLimits,
) {
  const { sampleRate } = models.features;
  const all = Buffer.concat([state.bytes, bytes]);
  const file = Buffer.concat([wavHeader(format, all.length), all]);
  const options = { sampleRate, limits: { ...limits, seconds: maxStepSeconds }, cancel };
  const audio = split ? decodeChannels(file, options) : decodeMean(file, options);
  const [first] = audio.channels as [Float32Array];
  const common = gcd(format.sampleRate, sampleRate);
  const [inStep, outStep] = [format.sampleRate / common, sampleRate / common];
  const held =
    format.sampleRate === sampleRate ? 0 : Math.ceil((resamplerSeconds * sampleRate) / outStep) * outStep;
  const available = state.start + first.length;
  const end = cause === 'session.end' ? available : Math.max(state.read, available - held);
  const start = Math.max(state.start, Math.floor(Math.max(0, end - held) / outStep) * outStep);
  const skipped = ((start - state.start) / outStep) * inStep * frameBytesOf(format);
  return {
    source: audio.source,
    channels: audio.channels.map((samples) => samples.slice(state.read - state.start, end - state.start)),
    state: { bytes: new Uint8Array(all.subarray(skipped)), start, read: end },
  };
}

type StepDecodeOptions = Omit<Parameters<typeof decode>[1], 'channel'>;
type Decoded = { readonly channels: readonly Float32Array[]; readonly source: Source };

function decodeMean(file: Uint8Array, options: StepDecodeOptions): Decoded {
  const { samples, source }: Audio = decode(file, { ...options, channel: null });
  return { channels: [samples], source };
}

function decodeChannels(file: Uint8Array, options: StepDecodeOptions): Decoded {
  const decoders = openChannelDecoders(file, options, maxStepSeconds * options.sampleRate);
  try {
    const channels = decoders.map(({ next }) => next());
    return { channels, source: decoders[1].source() as Source };
  } finally {
    decoders[0].close();
  }
}

function gcd(one: number, other: number): number {
  return other === 0 ? one : gcd(other, one % other);
}

async function analyzeChannel(
  state: ChannelState,
  samples: Float32Array,
  step: Step,
): Promise<{ readonly state: ChannelState; readonly messages: readonly LiveMessage[] }> {
  const { models, timer, cause } = step;
  const isLast = cause === 'session.end';
  const detected = await detectFrames(state.detector, samples, isLast, models, timer);
  const frames = joinFrames(state.frames, detected.frames);
  const audio = { samples: new Float32Array(0), sampleRate: models.features.sampleRate };
  const speech = analyzeSpeech(audio, frames, models);
  const now = frames.features.frames;
  const minPause = models.vad.manifest.params.minPauseSeconds * speech.framesPerSecond;
  const bounds = {
    start: state.offset === 0 ? Number.NEGATIVE_INFINITY : 0,
    end: isLast ? Number.POSITIVE_INFINITY : now,
  };
  const cut = cutUtterances(
    speech,
    models.trunk.manifest.params,
    [bounds],
    state.utteranceEnd - state.offset,
  );
  const isOver = ({ end, cause: why }: Utterance) => isLast || why === 'length' || now - end >= minPause;
  const [over, open] = [cut.filter(isOver), cut.filter((utterance) => !isOver(utterance))];
  const isShown = step.measure || cause === 'turn.end';

  const meter = createQualityMeter(speech, state.noise, models.features);
  const request = { signals: scoredSignals(step), embeddings: false, voices: false };
  const scored = await scoreUtterances(speech, over, meter, state.totals, request, models, timer);
  const kept = keepOpen(state, speech, over, meter, models);
  const shown = isShown
    ? await scoreUtterances(speech, open, meter, scored.totals, request, models, timer)
    : null;
  const toStream = (one: Scored): Scored => ({
    ...one,
    start: one.start + state.offset,
    end: one.end + state.offset,
  });
  const ended = scored.scored.map(toStream);
  const stillOpen = shown?.scored.map(toStream) ?? [];
  const isRecent = ({ end }: Scored) => end > state.offset + now - recentSeconds * speech.framesPerSecond;

  const activity = announce(state, speech, isLast, models);
  const turns = ended.map((one, index) => {
    const { cause: why } = over[index] as Utterance;
    return toTurn(one, why === 'end' ? 'session.end' : why, false, step);
  });
  const asked = cause === 'turn.end' ? stillOpen.map((one) => toTurn(one, cause, true, step)) : [];
  const next: ChannelState = {
    ...kept,
    detector: detected.state,
    speaking: activity.speaking,
    announced: activity.announced,
    totals: scored.totals,
    recent: [...state.recent, ...ended].filter(isRecent),
  };
  const measured = step.measure
    ? toMeasurement(state, speech, [...next.recent, ...stillOpen], shown?.totals ?? scored.totals, step)
    : [];
  return { state: next, messages: [...mergeInOrder(activity.messages, turns), ...asked, ...measured] };
}

function scoredSignals({ signals, models }: Step): Signal[] {
  return signals.filter((signal) => unavailableOf(models[signal].manifest) === null);
}

/** Starts and ends of speech, each once. */
function announce(
  state: ChannelState,
  { segments, features, framesPerSecond }: SpeechAnalysis,
  isLast: boolean,
  { vad }: Models,
) {
  const { minPauseSeconds, minSpeechSeconds } = vad.manifest.params;
  const messages: LiveMessage[] = [];
  let { speaking, announced } = state;
  const add = (type: 'started' | 'ended', frame: number) => {
    const at = state.offset + frame;
    messages.push({ type: `speech.${type}`, at_s: round(at / framesPerSecond) });
    [speaking, announced] = [type === 'started', at];
  };
  for (const { start, end } of segments) {
    if (end + state.offset <= announced) continue;
    if (!speaking && end - start >= minSpeechSeconds * framesPerSecond) add('started', start);
    const isOver = isLast || features.frames - end >= minPauseSeconds * framesPerSecond;
    if (speaking && isOver) add('ended', end);
  }
  return { messages, speaking, announced };
}

/** A stretch of speech ends before its last utterance is reported. */
function mergeInOrder(activity: readonly LiveMessage[], turns: readonly LiveMessage[]): LiveMessage[] {
  const placeOf = ({ at_s, end_s }: LiveMessage) => (at_s ?? end_s) as number;
  return [...activity, ...turns].sort((one, other) => placeOf(one) - placeOf(other));
}

/** Drops the frames that no later step reads, and adds up what measurements need of them. */
function keepOpen(
  state: ChannelState,
  speech: SpeechAnalysis,
  over: readonly Utterance[],
  meter: ReturnType<typeof createQualityMeter>,
  models: Models,
) {
  const { framesPerSecond, segments } = speech;
  const { marginSeconds } = models.trunk.manifest.params;
  const { minPauseSeconds, minSpeechSeconds, onset } = models.vad.manifest.params;
  const now = speech.features.frames;
  const last = over.at(-1);
  const utteranceEnd = last === undefined ? state.utteranceEnd : last.end + state.offset;
  // Runs that an utterance to come may contain.
  const maxGap = maxGapSeconds * framesPerSecond;
  // A run that is too short to be speech yet may begin before.
  let first = now - minSpeechSeconds * framesPerSecond;
  for (const { start, end } of segments.filter(({ start }) => start >= (last?.end ?? 0)).toReversed()) {
    if (first - end > maxGap) break;
    first = start;
  }
  const continues = last?.cause === 'length';
  const from = continues
    ? last.end
    : Math.max(last?.end ?? 0, first - Math.ceil(marginSeconds * framesPerSecond) - 1, 0);
  const frames = sliceFrames(speech, from);
  // Speech goes on after a cut.
  if (continues) frames.speechProbability[0] = Math.max(frames.speechProbability[0] ?? 0, onset);
  const past = clipSegments(segments, { start: 0, end: from });
  const minPause = minPauseSeconds * framesPerSecond;
  const shifted = past.map(({ start, end }) => ({ start: start + state.offset, end: end + state.offset }));
  const voiceFrames = countFrames(past);
  return {
    frames,
    offset: state.offset + from,
    utteranceEnd,
    noise: from === 0 ? state.noise : meter.noise(from),
    segments: joinGaps([...state.segments, ...shifted], minPause),
    syllables: addSyllables(
      state.syllables,
      past,
      speech.syllableRate,
      framesPerSecond,
      models.cognitive.manifest.params.measures,
    ),
    voice: {
      sum: state.voice.sum + voiceFrames * meanOver(past, speech.voiceLogOdds),
      frames: state.voice.frames + voiceFrames,
    },
  };
}

function toTurn(utterance: Scored, cause: string, provisional: boolean, step: Step): LiveMessage {
  const analysis = toAnalysis([utterance], {}, { segments: [], syllables: noSyllables }, null, step);
  const entries = step.signals.flatMap((signal) => {
    const { timeline = [] } = bodyOf(signal, analysis) as { timeline?: readonly Record<string, unknown>[] };
    return timeline.map(({ start_s: _, end_s: __, ...scores }) => [signal, scores] as const);
  });
  const { framesPerSecond } = analysis.span;
  return {
    type: 'turn',
    start_s: round(utterance.start / framesPerSecond),
    end_s: round(utterance.end / framesPerSecond),
    cause,
    provisional,
    ...Object.fromEntries(entries),
  };
}

/** Emotion of the last seconds, cognitive signals of the session so far. None without enough speech. */
function toMeasurement(
  state: ChannelState,
  speech: SpeechAnalysis,
  recent: readonly Scored[],
  totals: Totals,
  step: Step,
): LiveMessage[] {
  const { framesPerSecond } = speech;
  const { vad, cognitive } = step.models;
  const { minPauseSeconds, minTotalSpeechSeconds } = vad.manifest.params;
  const now = state.offset + speech.features.frames;
  const shifted = speech.segments.map(({ start, end }) => ({
    start: start + state.offset,
    end: end + state.offset,
  }));
  const segments = joinGaps([...state.segments, ...shifted], minPauseSeconds * framesPerSecond);
  const window = { start: Math.max(0, now - recentSeconds * framesPerSecond), end: now };
  const speechSeconds = countFrames(clipSegments(segments, window)) / framesPerSecond;
  if (speechSeconds < minTotalSpeechSeconds || recent.length === 0) return [];
  const { measures } = cognitive.manifest.params;
  const syllables = addSyllables(
    state.syllables,
    speech.segments,
    speech.syllableRate,
    framesPerSecond,
    measures,
  );
  const frames = countFrames(speech.segments);
  const voice =
    (state.voice.sum + frames * meanOver(speech.segments, speech.voiceLogOdds)) /
    Math.max(1, state.voice.frames + frames);
  const analysis = toAnalysis(recent, totals, { segments, syllables }, voice, step);
  const bodies = step.signals.map((signal) => [signal, bodyOf(signal, analysis)] as const);
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

/** @param voiceLogOdds null: only the timeline is read */
function toAnalysis(
  utterances: readonly Scored[],
  totals: Totals,
  speech: { readonly segments: readonly Segment[]; readonly syllables: SyllableTotals },
  voiceLogOdds: number | null,
  { signals, models, source, seconds, timer }: Step,
): Analysis {
  const { features, vad } = models;
  const framesPerSecond = features.sampleRate / features.hopLength;
  const weights = utterances.map(({ speechFrames }) => speechFrames);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const mean = (value: (utterance: Scored) => number) =>
    utterances.reduce((sum, utterance) => sum + value(utterance) * utterance.speechFrames, 0) / total;
  const quality = {
    snrDb: mean((utterance) => utterance.quality.snrDb),
    bandwidthHz: mean((utterance) => utterance.quality.bandwidthHz),
    levelDbfs: 0,
  };
  const span = {
    segments: speech.segments,
    framesPerSecond,
    speechSeconds: countFrames(speech.segments) / framesPerSecond,
  };
  const recording: RecordingContext = {
    ...span,
    syllables: speech.syllables,
    utterances,
    totals,
    conditions: { ...quality, speechSeconds: span.speechSeconds, clippedRatio: source.clippedRatio },
    baselines: [],
  };
  const own = signals.filter((signal) => unavailableOf(models[signal].manifest) === null);
  const wanted = own.filter((signal) => voiceLogOdds !== null || definitions[signal].addTo === undefined);
  return {
    audio: { seconds, source, ...quality, speechSeconds: span.speechSeconds },
    span,
    results: Object.fromEntries(
      wanted.map((signal) => [signal, definitions[signal].aggregate([], recording, models[signal])]),
    ),
    embeddings: null,
    samplesSha256: null,
    insufficientSpeech: false,
    warnings:
      voiceLogOdds === null
        ? []
        : recordingWarnings(
            source,
            { ...quality, voiceLogOdds, severalSpeakers: false },
            0,
            vad.manifest.params,
          ),
    models: Object.fromEntries(
      signals.map((signal) => [signal, models[signal].manifest]),
    ) as Analysis['models'],
    stages: timer.stages(),
  };
}
