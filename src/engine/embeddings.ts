/** Utterances -> rows of every head, which share a pass of the trunk. */

import { meanEmbedding } from './arrays.ts';
import type { Models } from './loader.ts';
import type { QualityMeter } from './quality.ts';
import type { ScoredUtterance } from './signals/definition.ts';
import { definitions, type Signal } from './signals/table.ts';
import type { DetectedSpeech } from './speech.ts';
import type { StageTimer } from './timer.ts';
import { cutRuns, type Encoded, encode, framesOf, type Utterance } from './utterances.ts';
import { inferVoice, type Voice } from './voices.ts';

export type Scored = ScoredUtterance & {
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
  return {
    own: { rows, embedding: embeddings ? meanEmbedding(encoded.embeddings, encoded.weights) : null, voice },
    totals,
  };
}

function minVoiceFrames({ trunk, features }: Models): number {
  const { severalSpeakers } = trunk.manifest.params;
  const seconds = severalSpeakers?.minUtteranceSeconds ?? Number.POSITIVE_INFINITY;
  return (seconds * features.sampleRate) / features.hopLength;
}
