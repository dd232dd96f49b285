/**
 * Recordings of hours, in memory that hardly grows with them: decoded, heard and scored piece by piece. A piece ends
 * in a pause where there is one, so that no word is cut. What is kept of it are the scores of its windows and, for
 * each 10 ms, the four numbers that the measures of the whole recording are made from.
 */
import type { Analysis, AnalyzeRequest, Signal } from './analysis.ts';
import {
  type DecodeLimits,
  measure,
  openChunkedDecoder,
  type Quality,
  type Source,
  trackVoice,
  type Voice,
} from './audio.ts';
import {
  decodePart,
  type Heard,
  listen,
  measureBaseline,
  minSpeechSeconds,
  type Sounding,
  segmentSeconds,
} from './hear.ts';
import type { Models } from './models/registry.ts';
import { clarityRows, cognitiveResult, emotionResult, emotionRows, encode, type Pooled } from './score.ts';
import { measureTiming } from './signals/measures.ts';
import { decibels, joinQualities, meanBySpeech, powerOf } from './signals/quality.ts';
import { countFrames, joinGaps, type Segment } from './signals/segments.ts';
import { type Speaker, speechCepstrum } from './signals/speaker.ts';
import { measureVoice } from './signals/voice.ts';
import { warnOfRecording } from './signals/warnings.ts';
import { unbounded, type Window } from './signals/windows.ts';
import { startWatch, type Watch } from './watch.ts';

/** Recordings up to this length are analysed as a whole, whatever the limits. */
export const wholeSeconds = 900;
const pieceSeconds = 300;
/** A piece may end this much earlier, in its last pause. */
const earlierSeconds = 60;

/**
 * Called after each chunk with the seconds analysed so far and the declared duration: null when none is declared, never
 * less than what was analysed, and exact after the last chunk. The analysis waits for it.
 */
export type Progress = (analysedSeconds: number, durationSeconds: number | null) => void | Promise<void>;

/** What is kept of a piece; frames are those of the whole recording. */
type Noted = {
  readonly frames: number;
  readonly speechSeconds: number;
  readonly segments: readonly Segment[];
  readonly windows: readonly Window[];
  /** Null when the signal was not requested. */
  readonly emotion: readonly (readonly number[])[] | null;
  readonly cognitive: CognitiveChunk | null;
  readonly voice: number;
  readonly quality: Quality;
  readonly power: number;
};

/** The inputs of the cognitive signals. */
type CognitiveChunk = Pick<Noted, 'speechSeconds'> & {
  readonly clarity: readonly (readonly number[])[];
  readonly syllableRate: Float32Array;
  readonly track: Voice;
  readonly cepstrum: readonly number[];
};

type Whole = { readonly seconds: number; readonly source: Source; readonly baseline: Speaker | null };

export async function analyzePieces(
  request: AnalyzeRequest,
  models: Models,
  limits: DecodeLimits,
  progress: Progress,
): Promise<Analysis> {
  const watch = startWatch(request.cancel);
  const short = { ...limits, seconds: wholeSeconds };
  const baseline =
    request.baseline !== null && request.signals.includes('cognitive')
      ? await measureBaseline(request.baseline, request, models, short, watch)
      : null;
  const { sampleRate } = models.features;
  const { channel, cancel } = request;
  const open = () =>
    openChunkedDecoder(request.audio, { sampleRate, channel, limits, cancel }, pieceSeconds * sampleRate);
  const decoder = decodePart('audio', open);
  const noted: Noted[] = [];
  let seconds = 0;
  let frames = 0;
  try {
    for await (const { heard, bounds } of hearPieces(
      () => decodePart('audio', decoder.next),
      models,
      watch,
    )) {
      noted.push(await note({ heard, bounds }, frames, request.signals, models, watch));
      frames += heard.features.frames;
      seconds += heard.audio.samples.length / sampleRate;
      const declared = decoder.declaredSeconds();
      const last = bounds.end === unbounded.end;
      await progress(seconds, last ? seconds : declared && Math.max(seconds, declared));
    }
    return conclude(noted, { seconds, source: decoder.source(), baseline }, models, watch);
  } finally {
    decoder.close();
  }
}

/** Windows of a piece lie inside `bounds`: only at the ends of the recording may silence stand for what is missing. */
type Piece = { readonly heard: Heard<Sounding>; readonly bounds: Segment };

/** What comes after the end of a piece belongs to the next one. */
async function* hearPieces(next: () => Float32Array, models: Models, watch: Watch): AsyncGenerator<Piece> {
  const { hop, sampleRate } = models.features;
  let left: Float32Array = new Float32Array(0);
  let { start } = unbounded;
  for (let coming = next(); coming.length > 0; ) {
    const samples = joinArrays([left, coming]);
    coming = next();
    const heard = await listen({ samples, sampleRate }, models, watch);
    const last = coming.length === 0;
    const end = last ? heard.features.frames : endOf(heard);
    const audio = { samples: last ? samples : samples.subarray(0, end * hop), sampleRate };
    left = samples.slice(end * hop);
    yield { heard: cutAt(end, { ...heard, audio }), bounds: { start, end: last ? unbounded.end : end } };
    start = 0;
  }
}

/** The middle of the last pause, if it is late enough. */
function endOf({ segments, features, framesPerSecond }: Heard<Sounding>): number {
  const { frames } = features;
  const earliest = frames - earlierSeconds * framesPerSecond;
  const starts = [...segments.slice(1).map(({ start }) => start), frames];
  for (let index = segments.length - 1; index >= 0; index--) {
    const middle = Math.floor(((segments[index] as Segment).end + (starts[index] as number)) / 2);
    if (middle < earliest) break;
    if (middle > (segments[index] as Segment).end) return middle;
  }
  return frames;
}

function cutAt(end: number, heard: Heard<Sounding>): Heard<Sounding> {
  const segments = heard.segments.filter(({ start }) => start < end);
  const { data, bins } = heard.features;
  return {
    ...heard,
    features: { data: data.subarray(0, end * bins), frames: end, bins },
    segments,
    speech: heard.speech.subarray(0, end),
    syllableRate: heard.syllableRate.subarray(0, end),
    speechSeconds: countFrames(segments) / heard.framesPerSecond,
  };
}

async function note(
  { heard, bounds }: Piece,
  offset: number,
  signals: readonly Signal[],
  models: Models,
  watch: Watch,
): Promise<Noted> {
  const { audio, segments, features } = heard;
  const quality = measure(audio.samples, audio.sampleRate, segmentSeconds(heard));
  const all = Float64Array.of(0, audio.samples.length / audio.sampleRate);
  const pooled = await encode(heard, models, watch, bounds);
  const shift = <Part extends Segment>(part: Part): Part => ({
    ...part,
    start: part.start + offset,
    end: part.end + offset,
  });
  return {
    frames: features.frames,
    speechSeconds: heard.speechSeconds,
    segments: segments.map(shift),
    windows: pooled.map(({ window }) => shift(window)),
    emotion: signals.includes('emotion') ? await emotionRows(pooled, models) : null,
    cognitive: signals.includes('cognitive') ? await analyzeCognitiveChunk(heard, pooled, models) : null,
    voice: heard.voice,
    quality,
    power: powerOf(measure(audio.samples, audio.sampleRate, all).levelDbfs),
  };
}

async function analyzeCognitiveChunk(
  { audio, features, segments, speechSeconds, syllableRate }: Heard<Sounding>,
  pooled: readonly Pooled[],
  models: Models,
): Promise<CognitiveChunk> {
  return {
    speechSeconds,
    clarity: await clarityRows(pooled, models),
    // A view would keep the samples and features of the whole piece.
    syllableRate: syllableRate.slice(),
    track: trackVoice(audio.samples, audio.sampleRate),
    cepstrum: speechCepstrum(features, segments),
  };
}

function conclude(noted: readonly Noted[], whole: Whole, models: Models, watch: Watch): Analysis {
  const { rule } = models.activity.manifest;
  const framesPerSecond = models.features.sampleRate / models.features.hop;
  const segments = joinGaps(
    noted.flatMap((piece) => piece.segments),
    rule.minPauseSeconds * framesPerSecond,
  );
  const windows = noted.flatMap((piece) => piece.windows);
  const speechSeconds = countFrames(segments) / framesPerSecond;
  const enough = speechSeconds >= minSpeechSeconds && windows.length > 0;
  const quality = joinQualities(noted);
  const { clippedRatio } = whole.source;
  const conditions = { ...quality, speechSeconds, clippedRatio };
  const span = { windows, framesPerSecond, speechSeconds };
  const power = noted.reduce((sum, piece) => sum + piece.frames * piece.power, 0) / countOf(noted);
  const emotion = requested(noted, ({ emotion }) => emotion);
  const cognitive = requested(noted, ({ cognitive }) => cognitive);
  const emotionOf = (rows: NonNullable<Noted['emotion']>[]) =>
    emotionResult(span, rows.flat(), models, conditions);
  const cognitiveOf = (pieces: CognitiveChunk[]) => {
    const measured = joinSpeakers(pieces, segments, framesPerSecond, speechSeconds);
    const rows = pieces.flatMap(({ clarity }) => clarity);
    return cognitiveResult(span, rows, models, conditions, { measured, baseline: whole.baseline });
  };
  const analysis = {
    audio: { seconds: whole.seconds, speechSeconds, source: whole.source, ...quality },
    emotion: enough && emotion !== null ? emotionOf(emotion) : null,
    cognitive: enough && cognitive !== null ? cognitiveOf(cognitive) : null,
    insufficientSpeech: !enough,
    warnings: warnOfRecording(
      whole.source,
      enough ? { ...quality, voice: meanBySpeech(noted, ({ voice }) => voice) } : null,
      enough ? quality.levelDbfs : decibels(power),
      rule.minVoice,
    ),
    models: { emotion: models.emotion.manifest, cognitive: models.cognitive.manifest },
    stages: watch.stages,
  };
  watch.mark('conclusion');
  return analysis;
}

/** One part of every piece; null when its signal was not requested. */
function requested<Part>(noted: readonly Noted[], read: (piece: Noted) => Part | null): Part[] | null {
  const parts = noted.map(read).filter((part) => part !== null);
  return parts.length === noted.length ? parts : null;
}

function joinSpeakers(
  noted: readonly CognitiveChunk[],
  segments: readonly Segment[],
  framesPerSecond: number,
  speechSeconds: number,
): Speaker {
  const joined = (values: (piece: CognitiveChunk) => Float32Array) => joinArrays(noted.map(values));
  const track = {
    pitchHz: joined(({ track }) => track.pitchHz),
    levelDb: joined(({ track }) => track.levelDb),
    tiltDb: joined(({ track }) => track.tiltDb),
  };
  const syllableRate = joined((piece) => piece.syllableRate);
  const length = noted[0]?.cepstrum.length ?? 0;
  return {
    measures: {
      ...measureTiming({ segments, syllableRate, framesPerSecond }),
      ...measureVoice(track, segments, framesPerSecond),
    },
    speechSeconds,
    cepstrum: Array.from({ length }, (_, index) =>
      meanBySpeech(noted, ({ cepstrum }) => cepstrum[index] as number),
    ),
  };
}

function countOf(noted: readonly Noted[]): number {
  return Math.max(
    1,
    noted.reduce((sum, { frames }) => sum + frames, 0),
  );
}

function joinArrays(arrays: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const array of arrays) {
    joined.set(array, at);
    at += array.length;
  }
  return joined;
}
