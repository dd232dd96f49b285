/** Utterances -> rows of every head, which share a pass of the trunk. */

import { meanEmbedding } from './arrays.ts';
import type { Execution } from './execution.ts';
import type { Models } from './loader.ts';
import type { QualityMeter } from './quality.ts';
import { inferVoice, type Voice } from './several-speakers.ts';
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
} from './utterances.ts';
import type { SpeakerMode, VoicePart } from './voices.ts';

export type Scored = ScoredUtterance & {
  /** Null when not requested. */
  readonly embedding: Float32Array | null;
  /** Null when too short, when not compared, or when the models compare no voices. */
  readonly voice: Voice | null;
  /** Index in the voices of the chunk, or of the stream; null when it may be of several, and unless speakers are separated. */
  readonly chunkVoice: number | null;
  /** Of this utterance alone; null unless speakers are separated. */
  readonly totals: Totals | null;
  /** The utterance cut where the speaker changes; empty when it is not cut. */
  readonly parts: readonly Scored[];
};

/** What signals add up over the utterances of a recording. */
export type Totals = Readonly<Partial<Record<Signal, unknown>>>;

export type ScoreRequest = {
  readonly signals: readonly Signal[];
  readonly embeddings: boolean;
  /** With a mode, each utterance has totals. */
  readonly voices: 'compare' | SpeakerMode | null;
};

/** What utterances are scored from. */
type ScoreContext = {
  readonly speech: DetectedSpeech;
  readonly meter: QualityMeter;
  /** Of the utterances before. */
  readonly totals: Totals;
  /** Of each utterance; empty unless speakers are separated. */
  readonly parts: readonly (readonly VoicePart[])[];
};

export type ScoredUtterances = { readonly scored: Scored[]; readonly totals: Totals };

export async function scoreUtterances(
  utterances: readonly Utterance[],
  { speech, meter, totals: before, parts: cut }: ScoreContext,
  request: ScoreRequest,
  models: Models,
  execution: Execution,
): Promise<ScoredUtterances> {
  const scored: Scored[] = [];
  let totals = before;
  const scoreNext = async (
    utterance: Utterance & { readonly voice?: number | null },
    previous: Totals,
    parts: readonly Scored[],
  ) => {
    const { start, end, speechFrames, voice: chunkVoice = null } = utterance;
    const encoded = await encodeRuns([utterance], speech, models, execution);
    const heads = await score({ ...encoded, speechFrames }, previous, request, models, execution);
    await execution.yieldToOthers();
    const quality = meter.measure(utterance, encoded.rows);
    const { rows, embeddings } = encoded;
    for (const values of [embeddings.data, rows.data, rows.filterbanks])
      if (values !== null) models.platform.release(values);
    const next: Scored = { start, end, speechFrames, quality, ...heads.scores, chunkVoice, parts };
    return { scored: next, totals: heads.totals };
  };
  for (const [index, utterance] of utterances.entries()) {
    const spoken = cut[index] ?? [];
    const parts: Scored[] = [];
    if (spoken.length > 1) for (const part of spoken) parts.push((await scoreNext(part, {}, [])).scored);
    const next = await scoreNext({ ...utterance, voice: spoken[0]?.voice ?? null }, totals, parts);
    totals = next.totals;
    scored.push(next.scored);
  }
  return { scored, totals };
}

export const isMode = (voices: ScoreRequest['voices']): voices is SpeakerMode =>
  voices !== null && voices !== 'compare';

/** The parts of an utterance, or the utterance alone when it is not cut. */
export const partsOf = (utterance: Scored): readonly Scored[] =>
  utterance.parts.length === 0 ? [utterance] : utterance.parts;

type EncodedRuns = Encoded & { readonly rows: Rows };

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
  const { scores, totals } = await score({ ...encoded, speechFrames }, {}, request, models, execution);
  const quality = meter.measure(span, encoded.rows);
  const scored = { ...span, speechFrames, quality, ...scores, chunkVoice: null, parts: [] };
  return { scored, totals };
}

async function score(
  encoded: Encoded & { readonly speechFrames: number },
  before: Totals,
  { signals, embeddings, voices }: ScoreRequest,
  models: Models,
  execution: Execution,
): Promise<{
  readonly scores: Pick<Scored, 'rows' | 'embedding' | 'voice' | 'totals'>;
  readonly totals: Totals;
}> {
  const rows: Partial<Record<Signal, unknown>> = {};
  const totals: Partial<Record<Signal, unknown>> = {};
  const alone: Partial<Record<Signal, unknown>> = {};
  const isSeparate = isMode(voices);
  for (const signal of signals) {
    rows[signal] = await definitions[signal].score?.(encoded, models[signal]);
    totals[signal] = await definitions[signal].addTo?.(before[signal] ?? null, encoded, models[signal]);
    if (isSeparate) alone[signal] = await definitions[signal].addTo?.(null, encoded, models[signal]);
    execution.endStage(signal);
  }
  const { severalSpeakers } = models;
  const isCompared = voices === 'compare' && encoded.speechFrames >= minVoiceFrames(models);
  const voice = isCompared && severalSpeakers !== null ? await inferVoice(encoded, severalSpeakers) : null;
  if (voice !== null) execution.endStage('voices');
  const embedding = embeddings ? meanEmbedding(encoded.embeddings, encoded.weights) : null;
  return { scores: { rows, embedding, voice, totals: isSeparate ? alone : null }, totals };
}

/** Speech of an utterance whose voice is compared, in frames. */
export function minVoiceFrames({ trunk, features }: Models): number {
  const { severalSpeakers } = trunk.manifest.params;
  const seconds = severalSpeakers?.minUtteranceSeconds ?? Number.POSITIVE_INFINITY;
  return (seconds * features.sampleRate) / features.hopLength;
}
