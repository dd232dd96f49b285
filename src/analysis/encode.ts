/** Utterances -> embeddings -> rows of every head. The trunk reads an utterance alone; all heads share its pass. */

import type { Models } from '../models/loader.ts';
import type { Values } from '../models/session.ts';
import { weightedMean } from './arrays.ts';
import type { QualityMeter, SpeechQuality } from './quality.ts';
import { countFrames, type Segment } from './segments.ts';
import { definitions, type Signal } from './signals/table.ts';
import type { FrameBlock, SpeechAnalysis } from './speech.ts';
import type { StageTimer } from './stage-timer.ts';
import { cutRuns, type Utterance } from './utterances.ts';
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
  speech: SpeechAnalysis,
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
    const { start, end, speechFrames, window } = utterance;
    const encoded = await encode(framesOf(speech, [window], models.silence), models.trunk, timer);
    const heads = await score({ ...encoded, speechFrames }, totals, request, models, timer);
    totals = heads.totals;
    scored.push({ start, end, speechFrames, quality: meter.measure(utterance), ...heads.own });
  }
  return { scored, totals };
}

/** Scores the runs of speech without an utterance as one, up to what the trunk reads. Null without speech. */
export async function scoreRuns(
  speech: SpeechAnalysis,
  meter: QualityMeter,
  request: ScoreRequest,
  models: Models,
  timer: StageTimer,
): Promise<{ readonly scored: Scored; readonly totals: Totals } | null> {
  const runs = cutRuns(speech, models.trunk.manifest.params);
  if (runs === null) return null;
  const { windows, speechFrames, ...span } = runs;
  const encoded = await encode(framesOf(speech, windows, models.silence), models.trunk, timer);
  const { own, totals } = await score({ ...encoded, speechFrames }, {}, request, models, timer);
  return { scored: { ...span, speechFrames, quality: meter.measure(span), ...own }, totals };
}

/** Frames that the trunk reads, row by row. */
export type Rows = Pick<FrameBlock, 'speechProbability'> & {
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

/** The rows of the windows, one after another; outside of the recording frames of digital silence. */
export function framesOf(
  { features, speechProbability }: FrameBlock,
  windows: readonly Segment[],
  silence: Float32Array,
): Rows {
  const { bins, frames } = features;
  const [first] = windows;
  if (windows.length === 1 && first !== undefined && first.start >= 0 && first.end <= frames) {
    const data = features.data.subarray(first.start * bins, first.end * bins);
    return { data, bins, speechProbability: speechProbability.subarray(first.start, first.end) };
  }
  const count = countFrames(windows);
  const data = new Float32Array(count * bins);
  const speech = new Float32Array(count);
  let row = 0;
  for (const { start, end } of windows) {
    for (let frame = start; frame < end; frame++, row++) {
      const isInside = frame >= 0 && frame < frames;
      data.set(isInside ? features.data.subarray(frame * bins, (frame + 1) * bins) : silence, row * bins);
      speech[row] = isInside ? (speechProbability[frame] as number) : 0;
    }
  }
  return { data, bins, speechProbability: speech };
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
