/** Utterances -> rows of every head, which share a pass of the trunk. */

import { meanEmbedding } from './arrays.ts';
import type { Models } from './loader.ts';
import type { Session } from './platform.ts';
import type { QualityMeter } from './quality.ts';
import { clipSegments, countFrames, type Segment } from './segments.ts';
import type { ScoredUtterance } from './signals/definition.ts';
import { definitions, type Signal } from './signals/table.ts';
import type { DetectedSpeech } from './speech.ts';
import type { StageTimer } from './timer.ts';
import {
  cutRuns,
  type Encoded,
  encode,
  findDip,
  framesOf,
  minSeconds,
  type Rows,
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
  /** With a mode, utterances have parts where the speaker changes, and each has a voice and totals of its own. */
  readonly voices: 'compare' | SpeakerMode | null;
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
  const read = async (utterance: Utterance): Promise<EncodedUtterance> => {
    const rows = framesOf(speech, [utterance], models);
    timer.mark('features');
    return { ...utterance, rows, ...(await encode(rows, models.trunk, timer)) };
  };
  const scoreNext = async (encoded: EncodedUtterance, own: Totals, parts: readonly Scored[]) => {
    const { start, end, speechFrames, rows } = encoded;
    const heads = await score(encoded, own, request, models, timer);
    await timer.yieldToOthers();
    const scored = { start, end, speechFrames, quality: meter.measure(encoded, rows), ...heads.own, parts };
    for (const values of [encoded.embeddings.data, rows.data, rows.filterbanks])
      if (values !== null) models.platform.release(values);
    return { scored, totals: heads.totals };
  };
  const { voices } = request;
  const cuts = isMode(voices) ? await findCuts(utterances, voices, read, speech, models, timer) : [];
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

type EncodedUtterance = Utterance & Encoded & { readonly rows: Rows };

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
  timer: StageTimer,
): Promise<readonly { readonly encoded: EncodedUtterance; readonly cut: readonly Utterance[] }[]> {
  const { framesPerToken } = trunk.manifest.params;
  const params = trunk.manifest.params.severalSpeakers as SeveralSpeakersParams;
  const { framesPerSecond, speechProbability, segments } = speech;
  const encoded: EncodedUtterance[] = [];
  const tracks = [];
  for (const utterance of utterances) {
    const own = await read(utterance);
    const scale = { first: own.rows.start, framesPerToken, framesPerSecond };
    tracks.push(await followVoice(own, own, scale, voice as Session));
    encoded.push(own);
    timer.mark('voices');
    await timer.yieldToOthers();
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
  timer.mark('voices');
  return encoded.map((own, index) => ({
    encoded: own,
    cut: cutAt(own, changes[index] ?? [], minSeconds * framesPerSecond, segments),
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
  const scored = { ...span, speechFrames, quality: meter.measure(span, rows), ...own, parts: [] };
  return { scored, totals };
}

async function score(
  encoded: Encoded & { readonly speechFrames: number },
  before: Totals,
  { signals, embeddings, voices }: ScoreRequest,
  models: Models,
  timer: StageTimer,
): Promise<{
  readonly own: Pick<Scored, 'rows' | 'embedding' | 'voice' | 'totals'>;
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
    timer.mark(signal);
  }
  const { voice: session } = models;
  const isCompared = isSeparate || (voices === 'compare' && encoded.speechFrames >= minVoiceFrames(models));
  const [voice = null] =
    isCompared && session !== null ? await inferVoices(encoded, encoded.weights.data, session) : [];
  if (voice !== null) timer.mark('voices');
  const embedding = embeddings ? meanEmbedding(encoded.embeddings, encoded.weights) : null;
  return { own: { rows, embedding, voice, totals: isSeparate ? alone : null }, totals };
}

/** Speech of an utterance whose voice is compared, in frames. */
export function minVoiceFrames({ trunk, features }: Models): number {
  const { severalSpeakers } = trunk.manifest.params;
  const seconds = severalSpeakers?.minUtteranceSeconds ?? Number.POSITIVE_INFINITY;
  return (seconds * features.sampleRate) / features.hopLength;
}
