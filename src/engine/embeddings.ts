/** Utterances -> rows of every head, which share a pass of the trunk. */

import { meanEmbedding } from './arrays.ts';
import type { Execution } from './execution.ts';
import type { Models } from './loader.ts';
import type { QualityMeter } from './quality.ts';
import { isComparable, readWindows, type VoiceWindow, windowsOf } from './several-speakers.ts';
import type { ScoredUtterance } from './signals/definition.ts';
import { definitions, type Signal } from './signals/table.ts';
import type { DetectedSpeech } from './speech.ts';
import {
  cutRuns,
  type Encoded,
  encode,
  framesOf,
  type Rows,
  type SpeechWindow,
  type Utterance,
  type VoiceFrames,
} from './utterances.ts';
import type { ChunkVoice, SpeakerMode, VoicePart } from './voices.ts';

export type Scored = ScoredUtterance & {
  /** Null when not requested. */
  readonly embedding: Float32Array | null;
  /** Index in the voices of the chunk, or of the stream; null when it may be of several, and unless speakers are separated. */
  readonly chunkVoice: number | null;
  /** The utterance cut where the speaker changes; empty when it is not cut, and when its parts stand in its place. */
  readonly parts: readonly Scored[];
};

/** What signals add up over the utterances of a recording. */
export type Totals = Readonly<Partial<Record<Signal, unknown>>>;

export type ScoreRequest = {
  readonly signals: readonly Signal[];
  readonly embeddings: boolean;
  /** With a mode, each voice has totals. */
  readonly voices: 'compare' | SpeakerMode | null;
};

/** An utterance, or a part of one. */
export type Scorable = Utterance & {
  /** Index in the voices of the chunk, or of the stream; null: may be of several. */
  readonly voice?: number | null;
  /** Parts that are scored too, with the voices. */
  readonly parts?: readonly VoicePart[];
};

/** What utterances are scored from. */
type ScoreContext = {
  readonly speech: DetectedSpeech;
  readonly meter: QualityMeter;
  /** Of the utterances before. */
  readonly totals: Totals;
  /** Frames between windows whose voices are compared; null: none are. */
  readonly windowStep: number | null;
};

type ScoredUtterances = {
  readonly scored: Scored[];
  readonly totals: Totals;
  /** Of the utterances of each voice of the chunk; empty unless speakers are separated. */
  readonly voiceTotals: readonly Totals[];
  /** Of windows of the utterances, in order of time; empty unless voices are compared. */
  readonly windowVoices: readonly ChunkVoice[];
};

export async function scoreUtterances(
  utterances: readonly Scorable[],
  { speech, meter, totals: before, windowStep }: ScoreContext,
  request: ScoreRequest,
  models: Models,
  execution: Execution,
): Promise<ScoredUtterances> {
  const scored: Scored[] = [];
  let totals = before;
  const voiceTotals: Totals[] = [];
  const windows: VoiceWindow[] = [];
  const scoreNext = async (
    utterance: Scorable,
    parts: readonly Scored[],
    isCounted: boolean,
  ): Promise<Scored> => {
    const { start, end, speechFrames, voice: chunkVoice = null } = utterance;
    const encoded = await encodeRuns([utterance], speech, models, execution);
    const isOfVoice = isMode(request.voices) && chunkVoice !== null;
    const sums = [...(isCounted ? [totals] : []), ...(isOfVoice ? [voiceTotals[chunkVoice] ?? {}] : [])];
    const heads = await score({ ...encoded, speechFrames }, sums, request, models, execution);
    if (isCounted) totals = heads.totals[0] as Totals;
    if (isOfVoice) voiceTotals[chunkVoice] = heads.totals.at(-1) as Totals;
    await execution.yieldToOthers();
    const quality = meter.measure(utterance, encoded.rows);
    if (windowStep !== null) windows.push(...cutWindows(utterance, encoded, windowStep, models));
    const { rows, embeddings, frames } = encoded;
    for (const values of [embeddings.data, frames?.data, rows.data, rows.filterbanks])
      if (values) models.platform.release(values);
    return { start, end, speechFrames, quality, ...heads.scores, chunkVoice, parts };
  };
  for (const utterance of utterances) {
    const parts: Scored[] = [];
    for (const part of utterance.parts ?? []) parts.push(await scoreNext(part, [], false));
    scored.push(await scoreNext(utterance, parts, true));
  }
  if (windows.length === 0 || models.severalSpeakers === null)
    return { scored, totals, voiceTotals, windowVoices: [] };
  const windowVoices = await readWindows(windows, models.severalSpeakers, models.platform);
  execution.endStage('voices');
  return { scored, totals, voiceTotals, windowVoices };
}

export const isMode = (voices: ScoreRequest['voices']): voices is SpeakerMode =>
  voices !== null && voices !== 'compare';

/** The parts of an utterance, or the utterance alone when it is not cut. */
export const partsOf = (utterance: Scored): readonly Scored[] =>
  utterance.parts.length === 0 ? [utterance] : utterance.parts;

type EncodedRuns = Encoded & VoiceFrames & { readonly rows: Rows };

async function encodeRuns(
  runs: readonly SpeechWindow[],
  speech: DetectedSpeech,
  models: Models,
  execution: Execution,
): Promise<EncodedRuns> {
  const rows = framesOf(speech, runs, models);
  execution.endStage('features');
  const encoded = await encode(rows, models.trunk);
  execution.endStage('trunk');
  return { ...encoded, rows };
}

function cutWindows(
  utterance: Utterance,
  encoded: EncodedRuns,
  step: number,
  { trunk, features: { sampleRate, hopLength } }: Models,
): VoiceWindow[] {
  const { severalSpeakers: params } = trunk.manifest.params;
  const framesPerSecond = sampleRate / hopLength;
  if (params === undefined || !isComparable(utterance, params, framesPerSecond)) return [];
  return windowsOf(encoded, utterance, { start: encoded.rows.start, step, framesPerSecond }, params);
}

/** Scores the runs of speech without an utterance as one, up to what the trunk reads. Null without speech. */
export async function scoreRuns(
  { speech, meter }: Pick<ScoreContext, 'speech' | 'meter'>,
  request: ScoreRequest,
  models: Models,
  execution: Execution,
): Promise<{ readonly scored: Scored; readonly totals: Totals } | null> {
  const cut = cutRuns(speech, models.trunk.manifest.params);
  if (cut === null) return null;
  const { runs, speechFrames, ...span } = cut;
  const encoded = await encodeRuns(runs, speech, models, execution);
  const { scores, totals } = await score({ ...encoded, speechFrames }, [{}], request, models, execution);
  const quality = meter.measure(span, encoded.rows);
  const scored = { ...span, speechFrames, quality, ...scores, chunkVoice: null, parts: [] };
  return { scored, totals: totals[0] as Totals };
}

/** @param before totals that the utterance is added to */
async function score(
  encoded: Encoded & { readonly speechFrames: number },
  before: readonly Totals[],
  { signals, embeddings }: ScoreRequest,
  models: Models,
  execution: Execution,
): Promise<{
  readonly scores: Pick<Scored, 'rows' | 'embedding'>;
  readonly totals: readonly Totals[];
}> {
  const rows: Partial<Record<Signal, unknown>> = {};
  const totals: Partial<Record<Signal, unknown>>[] = before.map(() => ({}));
  for (const signal of signals) {
    rows[signal] = await definitions[signal].score?.(encoded, models[signal]);
    for (const [index, sum] of totals.entries())
      sum[signal] = await definitions[signal].addTo?.(
        before[index]?.[signal] ?? null,
        encoded,
        models[signal],
      );
    execution.endStage(signal);
  }
  const embedding = embeddings ? meanEmbedding(encoded.embeddings, encoded.weights) : null;
  return { scores: { rows, embedding }, totals };
}
