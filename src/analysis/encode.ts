/** Utterances -> embeddings -> rows of every head. The trunk reads an utterance alone; all heads share its pass. */

import type { Models } from '../models/loader.ts';
import { joinArrays, weightedMean } from './arrays.ts';
import type { Values } from './platform.ts';
import type { QualityMeter, SpeechQuality } from './quality.ts';
import type { Segment } from './segments.ts';
import { definitions, type Signal } from './signals/table.ts';
import { type DetectedSpeech, type FrameBlock, leadFrames } from './speech.ts';
import type { StageTimer } from './stage-timer.ts';
import { cutRuns, gridFrames, type SpeechWindow, type Utterance } from './utterances.ts';
import { inferVoice, type Voice } from './voices.ts';

export type Encoded = {
  /** [1 x embeddings x dimensions]. */
  readonly embeddings: Values;
  /** Speech probability per embedding, [1 x embeddings]. */
  readonly weights: Values;
};

/** An utterance, in frames, with the row of each head. */
export type Scored = Segment & {
  readonly speechFrames: number;
  readonly quality: SpeechQuality;
  readonly rows: Readonly<Partial<Record<Signal, unknown>>>;
  /** Null when not requested. */
  readonly embedding: Float32Array | null;
  /** Null when too short, when not requested, or when the models compare no voices. */
  readonly voice: Voice | null;
};

/** What signals add up over the utterances of a recording. */
export type Totals = Readonly<Partial<Record<Signal, unknown>>>;

export type ScoreRequest = {
  readonly signals: readonly Signal[];
  readonly embeddings: boolean;
  readonly voices: boolean;
};

/** @param before of the utterances before */
export async function scoreUtterances(
  speech: DetectedSpeech,
  utterances: readonly Utterance[],
  meter: QualityMeter,
  before: Totals,
  request: ScoreRequest,
  models: Models,
  timer: StageTimer,
): Promise<{ readonly scored: Scored[]; readonly totals: Totals }> {
  const scored: Scored[] = [];
  let totals = before;
  for (const utterance of utterances) {
    const { start, end, speechFrames } = utterance;
    const rows = framesOf(speech, [utterance], models);
    timer.mark('features');
    const encoded = await encode(rows, models.trunk, timer);
    const heads = await score({ ...encoded, speechFrames }, totals, request, models, timer);
    totals = heads.totals;
    scored.push({ start, end, speechFrames, quality: meter.measure(utterance, rows), ...heads.own });
    await timer.yieldToOthers();
  }
  return { scored, totals };
}

/** Scores the runs of speech without an utterance as one, up to what the trunk reads. Null without speech. */
export async function scoreRuns(
  speech: DetectedSpeech,
  meter: QualityMeter,
  request: ScoreRequest,
  models: Models,
  timer: StageTimer,
): Promise<{ readonly scored: Scored; readonly totals: Totals } | null> {
  const cut = cutRuns(speech, models.trunk.manifest.params);
  if (cut === null) return null;
  const { runs, speechFrames, ...span } = cut;
  const rows = framesOf(speech, runs, models);
  timer.mark('features');
  const encoded = await encode(rows, models.trunk, timer);
  const { own, totals } = await score({ ...encoded, speechFrames }, {}, request, models, timer);
  return { scored: { ...span, speechFrames, quality: meter.measure(span, rows), ...own }, totals };
}

type Detected = Pick<DetectedSpeech, 'audio' | 'speechProbability'>;

/** Frames that the trunk reads, row by row. */
export type Rows = Pick<FrameBlock, 'speechProbability'> & {
  /** The frame of the recording that is nearest to the first row. */
  readonly start: number;
  readonly data: Float32Array;
  readonly bins: number;
};

/** One pass of the trunk. */
export async function encode(
  { data, bins, speechProbability }: Rows,
  { session, manifest }: Models['trunk'],
  timer: StageTimer,
): Promise<Encoded> {
  const outputs = await session.run({ features: { data, shape: [1, data.length / bins, bins] } });
  timer.mark('trunk');
  const weights = speechWeights(speechProbability, manifest.params.framesPerToken);
  return { embeddings: outputs.tokens as Values, weights };
}

async function score(
  encoded: Encoded & { readonly speechFrames: number },
  before: Totals,
  { signals, embeddings, voices }: ScoreRequest,
  models: Models,
  timer: StageTimer,
): Promise<{ readonly own: Pick<Scored, 'rows' | 'embedding' | 'voice'>; readonly totals: Totals }> {
  const rows: Partial<Record<Signal, unknown>> = {};
  const totals: Partial<Record<Signal, unknown>> = {};
  for (const signal of signals) {
    rows[signal] = await definitions[signal].score?.(encoded, models[signal]);
    totals[signal] = await definitions[signal].addTo?.(before[signal] ?? null, encoded, models[signal]);
    timer.mark(signal);
  }
  const { voice: session } = models;
  const isLongEnough = voices && encoded.speechFrames >= minVoiceFrames(models);
  const voice = session !== null && isLongEnough ? await inferVoice(encoded, session) : null;
  if (voice !== null) timer.mark('voices');
  return { own: { rows, embedding: embeddings ? meanEmbedding(encoded) : null, voice }, totals };
}

function minVoiceFrames({ trunk, features }: Models): number {
  const { severalSpeakers } = trunk.manifest.params;
  const seconds = severalSpeakers?.minUtteranceSeconds ?? Number.POSITIVE_INFINITY;
  return (seconds * features.sampleRate) / features.hopLength;
}

/** What makes features of samples. */
type Extractor = Pick<Models, 'features' | 'platform'>;

/**
 * The rows of the windows, one after another. The first frame of a window is a multiple of `gridFrames` frames away from the
 * temporal centroid of its speech, so that equal sounds have equal frames wherever they stand in a recording. Silence precedes and
 * follows the recording.
 */
export function framesOf(speech: Detected, windows: readonly SpeechWindow[], extractor: Extractor): Rows {
  const parts = windows.map((window) => readWindow(speech, window, extractor));
  return {
    start: parts[0]?.start ?? 0,
    data: joinArrays(parts.map(({ data }) => data)),
    bins: extractor.features.nMels,
    speechProbability: joinArrays(parts.map(({ speechProbability }) => speechProbability)),
  };
}

function readWindow(
  { audio: { samples }, speechProbability }: Detected,
  { start, end, window }: SpeechWindow,
  { features, platform }: Extractor,
): Rows {
  const { hopLength } = features;
  const grid = gridFrames * hopLength;
  const from = window.start * hopLength;
  const centroid = start * hopLength + temporalCentroid(samples.subarray(start * hopLength, end * hopLength));
  const first = from + ((((centroid - from) % grid) + grid) % grid);
  const count = Math.floor((window.end * hopLength - first) / hopLength);
  const context = leadFrames * hopLength;
  const own = padded(samples, first - context, first + count * hopLength + context);
  const { data, bins } = platform.extract(own, features);
  const nearest = Math.round(first / hopLength);
  return {
    start: nearest,
    data: data.subarray(leadFrames * bins, (leadFrames + count) * bins),
    bins,
    speechProbability: padded(speechProbability, nearest, nearest + count),
  };
}

/** Values from `start` to `end`; zeros outside of them. */
function padded(values: Float32Array, start: number, end: number): Float32Array {
  if (start >= 0 && end <= values.length) return values.subarray(start, end);
  const inside = values.subarray(Math.max(0, start), end);
  const own = new Float32Array(end - start);
  own.set(inside, Math.max(0, -start));
  return own;
}

/** Mean position weighted by energy, in samples (MPEG-7 TemporalCentroid, without an envelope); the middle of silence. */
function temporalCentroid(samples: Float32Array): number {
  let [energy, moment] = [0, 0];
  for (let at = 0; at < samples.length; at++) {
    const power = (samples[at] as number) ** 2;
    energy += power;
    moment += at * power;
  }
  return Math.round(energy > 0 ? moment / energy : samples.length / 2);
}

/** Speech probability of each embedding: the mean over its frames. */
function speechWeights(speech: Float32Array, framesPerEmbedding: number): Values {
  const count = Math.ceil(speech.length / framesPerEmbedding);
  const weights = new Float32Array(count);
  for (let index = 0; index < count; index++) {
    const from = index * framesPerEmbedding;
    const to = Math.min(speech.length, from + framesPerEmbedding);
    let sum = 0;
    for (let frame = from; frame < to; frame++) sum += speech[frame] as number;
    weights[index] = sum / (to - from);
  }
  return { data: weights, shape: [1, count] };
}

/** Mean of the embeddings, weighted by the speech probability. */
function meanEmbedding({ embeddings, weights }: Encoded): Float32Array {
  const width = embeddings.shape.at(-1) as number;
  const rows = Array.from(weights.data, (_, row) => embeddings.data.subarray(row * width, (row + 1) * width));
  return Float32Array.from(weightedMean(rows, weights.data));
}
