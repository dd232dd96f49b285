/** Utterances -> rows of every head, which share a pass of the trunk. */

import { meanEmbedding } from './arrays.ts';
import type { Execution } from './execution.ts';
import type { Models } from './loader.ts';
import type { Session } from './platform.ts';
import type { QualityMeter } from './quality.ts';
import { clipSegments, countFrames, type Segment } from './segments.ts';
import type { ScoredUtterance } from './signals/definition.ts';
import { definitions, type Signal } from './signals/table.ts';
import type { DetectedSpeech } from './speech.ts';
import {
  cutRuns,
  type Encoded,
  encode,
  findDip,
  framesOf,
  minSeconds,
  type Rows,
  type SpeechWindow,
  type Utterance,
} from './utterances.ts';
import {
  findChanges,
  followVoice,
  inferVoices,
  type SeveralSpeakersParams,
  type SpeakerMode,
  type Voice,
} from './voices.ts';

export type Scored = ScoredUtterance & {
  /** Null when not requested. */
  readonly embedding: Float32Array | null;
  /** Null when too short, when not requested, or when the models compare no voices. */
  readonly voice: Voice | null;
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
  /** With a mode, utterances have parts where the speaker changes, and each has a voice and totals. */
  readonly voices: 'compare' | SpeakerMode | null;
};

/** What utterances are scored from. */
type ScoreContext = {
  readonly speech: DetectedSpeech;
  readonly meter: QualityMeter;
  /** Of the utterances before. */
  readonly totals: Totals;
};

export async function scoreUtterances(
  utterances: readonly Utterance[],
  { speech, meter, totals: before }: ScoreContext,
  request: ScoreRequest,
  models: Models,
  execution: Execution,
): Promise<{ readonly scored: Scored[]; readonly totals: Totals }> {
  const scored: Scored[] = [];
  let totals = before;
  const read = async (utterance: Utterance): Promise<EncodedUtterance> => ({
    ...utterance,
    ...(await encodeRuns([utterance], speech, models, execution)),
  });
  const scoreNext = async (encoded: EncodedUtterance, previous: Totals, parts: readonly Scored[]) => {
    const { start, end, speechFrames, rows } = encoded;
    const heads = await score(encoded, previous, request, models, execution);
    await execution.yieldToOthers();
    const quality = meter.measure(encoded, rows);
    for (const values of [encoded.embeddings.data, rows.data, rows.filterbanks])
      if (values !== null) models.platform.release(values);
    return { scored: { start, end, speechFrames, quality, ...heads.scores, parts }, totals: heads.totals };
  };
  const { voices } = request;
  const cuts = isMode(voices) ? await findCuts(utterances, voices, read, speech, models, execution) : [];
  for (const [index, utterance] of utterances.entries()) {
    const { encoded = await read(utterance), cut = [] } = cuts[index] ?? {};
    const parts: Scored[] = [];
    for (const part of cut) parts.push((await scoreNext(await read(part), {}, [])).scored);
    const next = await scoreNext(encoded, totals, parts);
    totals = next.totals;
    scored.push(next.scored);
  }
  return { scored, totals };
}

const isMode = (voices: ScoreRequest['voices']): voices is SpeakerMode =>
  voices !== null && voices !== 'compare';

type EncodedRuns = Encoded & { readonly rows: Rows };
type EncodedUtterance = Utterance & EncodedRuns;

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

/** A cut is the middle of the span of this length with the least speech, so near to the change. */
const dipSeconds = 0.1;
const maxShiftSeconds = 0.2;

/** Each utterance with the parts of an utterance in which the speaker changes. They do not read each other and are not encoded yet. */
async function findCuts(
  utterances: readonly Utterance[],
  mode: SpeakerMode,
  read: (utterance: Utterance) => Promise<EncodedUtterance>,
  speech: DetectedSpeech,
  { voice, trunk }: Models,
  execution: Execution,
): Promise<readonly { readonly encoded: EncodedUtterance; readonly cut: readonly Utterance[] }[]> {
  const { framesPerToken } = trunk.manifest.params;
  const params = trunk.manifest.params.severalSpeakers as SeveralSpeakersParams;
  const { framesPerSecond, speechProbability, segments } = speech;
  const encoded: EncodedUtterance[] = [];
  const tracks = [];
  for (const utterance of utterances) {
    const next = await read(utterance);
    const scale = { first: next.rows.start, framesPerToken, framesPerSecond };
    tracks.push(await followVoice(next, next, scale, voice as Session));
    encoded.push(next);
    execution.endStage('voices');
    await execution.yieldToOthers();
  }
  const shift = maxShiftSeconds * framesPerSecond;
  const changes = findChanges(tracks, mode, params).map((found) =>
    found.map((moment) =>
      findDip(
        speechProbability,
        { start: Math.round(moment - shift), end: Math.round(moment + shift) },
        dipSeconds * framesPerSecond,
      ),
    ),
  );
  execution.endStage('voices');
  return encoded.map((utterance, index) => ({
    encoded: utterance,
    cut: cutAt(utterance, changes[index] ?? [], minSeconds * framesPerSecond, segments),
  }));
}

/** Cuts that would leave less speech than `minFrames` are left out. Empty without a cut. */
function cutAt(
  { start, end, window, cause }: Utterance,
  cuts: readonly number[],
  minFrames: number,
  segments: readonly Segment[],
): Utterance[] {
  const starts = [start];
  const speechIn = (part: Segment) => countFrames(clipSegments(segments, part));
  for (const cut of cuts) {
    const [before, after] = [
      { start: starts.at(-1) as number, end: cut },
      { start: cut, end },
    ];
    if (speechIn(before) >= minFrames && speechIn(after) >= minFrames) starts.push(cut);
  }
  if (starts.length === 1) return [];
  return starts.map((from, index) => {
    const to = starts[index + 1] ?? end;
    const part = { start: from, end: to };
    return {
      ...part,
      window: { start: index === 0 ? window.start : from, end: to === end ? window.end : to },
      speechFrames: speechIn(part),
      cause: to === end ? cause : 'length',
    };
  });
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
  const scored = { ...span, speechFrames, quality, ...scores, parts: [] };
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
  const { voice: session } = models;
  const isCompared = isSeparate || (voices === 'compare' && encoded.speechFrames >= minVoiceFrames(models));
  const [voice = null] =
    isCompared && session !== null ? await inferVoices(encoded, encoded.weights.data, session) : [];
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
