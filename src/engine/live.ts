/** A stream, step by step: bytes -> frames -> utterances, each scored once -> messages. */

import { joinArrays } from './arrays.ts';
import { type Scored, scoreUtterances, type Totals } from './embeddings.ts';
import { type Execution, type Stage, startExecution } from './execution.ts';
import {
  type LiveMessage,
  type MessageContext,
  noSpeech,
  recentSeconds,
  type SpeechSoFar,
  scoredSignals,
  toMeasurement,
  toTurn,
} from './live-messages.ts';
import { decodeNext, initialSampleState, type SampleState } from './live-samples.ts';
import { followVoices, type KnownPart } from './live-voices.ts';
import type { Models } from './loader.ts';
import type { SampleFormat } from './pcm.ts';
import type { DecodeLimits } from './platform.ts';
import { createQualityMeter, type NoiseLevel, noNoise, type QualityMeter } from './quality.ts';
import { round } from './rounding.ts';
import { clipSegments, countFrames, joinGaps, meanOver, type Segment, shift, unbounded } from './segments.ts';
import { maxEarlier } from './signals/relative.ts';
import { definitions, type Signal } from './signals/table.ts';
import {
  analyzeSpeech,
  type DetectedSpeech,
  type DetectorState,
  detectFrames,
  type FrameBlock,
  initialDetectorState,
  joinFrames,
  sliceFrames,
} from './speech.ts';
import { cutUtterances, gridFrames, hasEnded, maxGapSeconds, type Utterance } from './utterances.ts';
import { type SpeakerMode, voiceModelOf } from './voices.ts';

export type LiveStep = {
  readonly format: SampleFormat;
  /** What came since the last step: whole frames of samples. */
  readonly bytes: Uint8Array;
  /** Of the previous step; null at the start. */
  readonly state: LiveState | null;
  readonly signals: readonly Signal[];
  /** Each of two channels alone. */
  readonly split: boolean;
  /** Not null: turns have a speaker. Not with `split`. */
  readonly speakers: SpeakerMode | null;
  /** Whether a measurement is due. */
  readonly measure: boolean;
  /** Not null: the client ended the turn, or the session, at the end of the bytes. */
  readonly cause: 'turn.end' | 'session.end' | null;
};

/** Serializable: per channel some 100 kB, twice that with `speakers`, and 66 kB for each second of an open utterance. */
export type LiveState = SampleState & { readonly channels: readonly ChannelState[] };

type ChannelState = {
  readonly detector: DetectorState;
  /** Frames that utterances to come may contain or have as context. */
  readonly frames: FrameBlock | null;
  /** From the first of these frames on. */
  readonly samples: Float32Array;
  /** Position of `frames` in the stream, in frames. */
  readonly offset: number;
  /** End of the last utterance, in frames of the stream. */
  readonly utteranceEnd: number;
  /** Whether the last message of speech activity is `speech.started`. */
  readonly speaking: boolean;
  /** Position of that message, in frames of the stream. */
  readonly announced: number;
  readonly noise: NoiseLevel;
  readonly totals: Totals;
  /** Before `frames`. */
  readonly speech: SpeechSoFar;
  /** The last ones, at most `maxEarlier` of each speaker, in frames of the stream: they may have ended before the recent audio began. */
  readonly utterances: readonly Scored[];
  /** Parts of the stream with their voices; empty without `speakers`. */
  readonly known: readonly KnownPart[];
};

export type LiveResult = {
  readonly state: LiveState;
  readonly messages: readonly LiveMessage[];
  readonly stages: readonly Stage[];
};

type Step = MessageContext &
  Pick<LiveStep, 'measure' | 'cause' | 'speakers'> & { readonly execution: Execution };

/** @throws EngineError */
export async function analyzeLive(
  { bytes, state, ...step }: LiveStep & { readonly cancel: Int32Array | null },
  models: Models,
  limits: DecodeLimits,
): Promise<LiveResult> {
  const execution = startExecution(step.cancel);
  if (step.speakers !== null) voiceModelOf(models);
  const before = state ?? initialState(step.split ? 2 : 1, models);
  const decoded = decodeNext(before, bytes, step, limits, models);
  execution.endStage('decode');
  const context = { ...step, models, execution, source: decoded.source };
  const detected: Detected[] = [];
  for (const [channel, samples] of decoded.channels.entries()) {
    detected.push(await detectSpeech(before.channels[channel] as ChannelState, samples, context));
  }
  const speech = step.measure ? detected.map((one) => speechSoFar(one, context)) : [];
  const channels: ChannelState[] = [];
  const messages: LiveMessage[] = [];
  for (const [channel, one] of detected.entries()) {
    const soFar = speech[channel];
    const others = step.split ? speech[1 - channel]?.segments : undefined;
    const output = await analyzeChannel(one, soFar && { ...soFar, others }, context);
    channels.push(output.state);
    messages.push(...output.messages.map((message) => (step.split ? { ...message, channel } : message)));
  }
  return { state: { ...decoded.state, channels }, messages, stages: execution.stages() };
}

function initialState(channels: number, models: Models): LiveState {
  const channel: ChannelState = {
    detector: initialDetectorState(models),
    frames: null,
    samples: new Float32Array(0),
    offset: 0,
    utteranceEnd: Number.NEGATIVE_INFINITY,
    speaking: false,
    announced: 0,
    noise: noNoise,
    totals: {},
    speech: noSpeech,
    utterances: [],
    known: [],
  };
  return { ...initialSampleState, channels: Array.from({ length: channels }, () => channel) };
}

/** A channel of which the speech of this step is known. */
type Detected = {
  readonly state: ChannelState;
  readonly detector: DetectorState;
  readonly speech: DetectedSpeech;
};

async function detectSpeech(
  state: ChannelState,
  samples: Float32Array,
  { models, execution, cause }: Step,
): Promise<Detected> {
  const isLast = cause === 'session.end';
  const detected = await detectFrames(state.detector, samples, isLast, models, execution);
  const frames = joinFrames([state.frames, detected.frames]);
  const audio = { samples: joinArrays([state.samples, samples]), sampleRate: models.features.sampleRate };
  return { state, detector: detected.state, speech: analyzeSpeech(audio, frames, models) };
}

function speechSoFar({ state, speech }: Detected, step: Step): SpeechSoFar {
  return addSpeech(state, speech, speech.segments, step);
}

/** @param soFar present when a measurement is due */
async function analyzeChannel(
  detected: Detected,
  soFar: SpeechSoFar | undefined,
  step: Step,
): Promise<{ readonly state: ChannelState; readonly messages: readonly LiveMessage[] }> {
  const { models, execution, cause } = step;
  const { state, speech } = detected;
  const isLast = cause === 'session.end';
  const now = speech.power.length;
  const minPause = models.vad.manifest.params.minPauseSeconds * speech.framesPerSecond;
  const bounds = { start: state.offset === 0 ? unbounded.start : 0, end: isLast ? unbounded.end : now };
  const cut = cutUtterances(
    speech,
    models.trunk.manifest.params,
    [bounds],
    state.utteranceEnd - state.offset,
  );
  const isOver = (utterance: Utterance) => isLast || hasEnded(utterance, now, minPause);
  const [over, open] = [cut.filter(isOver), cut.filter((utterance) => !isOver(utterance))];
  const isShown = step.measure || cause === 'turn.end';

  const meter = createQualityMeter(speech, state.noise, models.features);
  const request = { signals: scoredSignals(step), embeddings: false, voices: null };
  const follow = (utterances: readonly Utterance[], known: readonly KnownPart[]) => {
    const { speakers } = step;
    if (speakers === null) return { parts: utterances.map((utterance) => [utterance]), known };
    return followVoices(utterances, known, speakers, { speech, offset: state.offset }, { models, execution });
  };
  const { parts, known } = await follow(over, state.known);
  const scored = await scoreUtterances(
    parts.flat(),
    { speech, meter, totals: state.totals, windowStep: null },
    request,
    models,
    execution,
  );
  const kept = keepOpen(state, speech, over, meter, step);
  const openParts = cause === 'turn.end' ? (await follow(open, known)).parts : open.map((one) => [one]);
  const shown = isShown
    ? await scoreUtterances(
        openParts.flat(),
        { speech, meter, totals: scored.totals, windowStep: null },
        request,
        models,
        execution,
      )
    : null;
  const withCauses = (
    utterances: readonly Scored[],
    cutParts: readonly (readonly Utterance[])[],
    causeOf: (last: Utterance) => string,
  ) => {
    const causes = cutParts.flatMap((spoken) =>
      spoken.map((part, at) => (at < spoken.length - 1 ? 'speaker' : causeOf(part))),
    );
    return shift(utterances, state.offset).map((one, at) => ({ ...one, cause: causes[at] as string }));
  };
  const ended = withCauses(scored.scored, parts, ({ cause: why }) => (why === 'end' ? 'session.end' : why));
  const stillOpen = withCauses(shown?.scored ?? [], openParts, () => 'turn.end');
  const isRecent = ({ end }: Scored) => end > state.offset + now - recentSeconds * speech.framesPerSecond;

  const activity = announce(state, speech, isLast, models);
  const utterances: Scored[] = [...renumber(state.utterances, known), ...ended];
  const turns = ended.map((one, index) =>
    toTurn(one, utterances.slice(0, state.utterances.length + index), one.cause, false, step),
  );
  const asked =
    cause === 'turn.end' ? stillOpen.map((one) => toTurn(one, utterances, one.cause, true, step)) : [];
  const next: ChannelState = {
    ...kept,
    detector: detected.detector,
    speaking: activity.speaking,
    announced: activity.announced,
    totals: scored.totals,
    utterances: lastOfEach(utterances),
    known,
  };
  const recent = [...utterances.filter(isRecent), ...stillOpen];
  const measured =
    soFar === undefined
      ? []
      : toMeasurement(soFar, state.offset + now, recent, shown?.totals ?? scored.totals, step);
  return { state: next, messages: [...mergeInOrder(activity.messages, turns), ...asked, ...measured] };
}

/** Gives each utterance the present number of its voice. */
function renumber(utterances: readonly Scored[], known: readonly KnownPart[]): Scored[] {
  const numbers = new Map(known.map(({ end, voice }) => [end, voice]));
  return utterances.map((one) =>
    one.chunkVoice === null ? one : { ...one, chunkVoice: numbers.get(one.end) ?? one.chunkVoice },
  );
}

/** The last `maxEarlier` of each speaker. */
function lastOfEach(utterances: readonly Scored[]): Scored[] {
  const counts = new Map<number | null, number>();
  const isKept = ({ chunkVoice }: Scored) => {
    const count = 1 + (counts.get(chunkVoice) ?? 0);
    counts.set(chunkVoice, count);
    return count <= maxEarlier;
  };
  return utterances.toReversed().filter(isKept).reverse();
}

/** Starts and ends of speech, each once. */
function announce(
  state: ChannelState,
  { segments, power, framesPerSecond }: DetectedSpeech,
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
    const isOver = isLast || power.length - end >= minPauseSeconds * framesPerSecond;
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
  speech: DetectedSpeech,
  over: readonly Utterance[],
  meter: QualityMeter,
  step: Step,
) {
  const { models } = step;
  const { framesPerSecond, segments } = speech;
  const { marginSeconds } = models.trunk.manifest.params;
  const { minSpeechSeconds, onset } = models.vad.manifest.params;
  const now = speech.power.length;
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
  const context = Math.ceil(marginSeconds * framesPerSecond) + gridFrames + 1;
  const from = continues ? last.end : Math.max(last?.end ?? 0, Math.floor(first) - context);
  const frames = sliceFrames(speech, from);
  // Speech goes on after a cut.
  if (continues) frames.speechProbability[0] = Math.max(frames.speechProbability[0] ?? 0, onset);
  return {
    frames,
    samples: speech.audio.samples.slice(from * models.features.hopLength),
    offset: state.offset + from,
    utteranceEnd,
    noise: from === 0 ? state.noise : meter.noise(from),
    speech: addSpeech(state, speech, clipSegments(segments, { start: 0, end: from }), step),
  };
}

/** @param segments of `speech`, in its frames */
function addSpeech(
  { speech: before, offset }: ChannelState,
  speech: DetectedSpeech,
  segments: readonly Segment[],
  context: MessageContext,
): SpeechSoFar {
  const { models } = context;
  const { framesPerSecond, voiceLogOdds } = speech;
  const minPause = models.vad.manifest.params.minPauseSeconds * framesPerSecond;
  const frames = countFrames(segments);
  const totals: Partial<Record<Signal, unknown>> = {};
  for (const signal of scoredSignals(context)) {
    const { addSpeech } = definitions[signal];
    if (addSpeech !== undefined)
      totals[signal] = addSpeech(before.totals[signal] ?? null, { ...speech, segments }, models[signal]);
  }
  return {
    segments: joinGaps([...before.segments, ...shift(segments, offset)], minPause),
    totals,
    voice: {
      sum: before.voice.sum + frames * meanOver(segments, voiceLogOdds),
      frames: before.voice.frames + frames,
    },
  };
}
