/** Two voices on one channel: the utterances of a recording -> the chunks of each speaker. */

import { shiftToRecording } from './aggregate.ts';
import type { ChunkResult } from './analyze-chunk.ts';
import { minVoiceFrames, type Scored, type Totals } from './embeddings.ts';
import type { Execution } from './execution.ts';
import type { Models } from './loader.ts';
import { countFrames, intersect, type Segment, shift, unbounded } from './segments.ts';
import { definitions, type Signal } from './signals/table.ts';
import { groupVoices, type SeveralSpeakersParams, type SpeakerMode, soundLikeSeveral } from './voices.ts';

/** An utterance in frames of the recording, and its speaker from 0; null for one that may be of either. */
type Assigned = Scored & { readonly speaker: number | null };

/**
 * Voices are compared within the recording alone, and no voice is kept.
 * @param whole results of the recording, whose utterances have voices, totals and parts
 * @returns results of each speaker, in the order in which they first speak; with `2` the second may have no speech; with `auto` and one
 *   voice, `whole`, whose utterances are not cut
 */
export async function separateSpeakers(
  whole: readonly ChunkResult[],
  mode: SpeakerMode,
  models: Models,
  execution: Execution,
): Promise<readonly (readonly ChunkResult[])[]> {
  const results = whole.map((result) => ({ ...result, utterances: result.utterances.flatMap(partsOf) }));
  const utterances = assign(
    shiftToRecording(results, (result) => result.utterances),
    mode,
    models,
  );
  if (utterances === null) return [whole];
  const turns = turnsOf(utterances);
  execution.endStage('voices');
  const speakers: ChunkResult[][] = [];
  for (const speaker of [0, 1]) {
    await execution.yieldToOthers();
    const spoken = utterances.filter((utterance) => utterance.speaker === speaker);
    const spans = turns.filter((turn) => turn.speaker === speaker);
    const totals = await joinTotals(spoken, models);
    speakers.push(restrictToSpans(results, { spans, totals, speaker }, utterances, models));
    execution.endStage('voices');
  }
  return speakers;
}

const partsOf = (utterance: Scored): readonly Scored[] =>
  utterance.parts.length === 0 ? [utterance] : utterance.parts;

/** Null when `auto` finds one voice. */
function assign(utterances: readonly Scored[], mode: SpeakerMode, models: Models): Assigned[] | null {
  const params = models.trunk.manifest.params.severalSpeakers as SeveralSpeakersParams;
  const spoken = utterances.flatMap((utterance) => {
    const { voice, speechFrames } = utterance;
    return voice === null ? [] : [{ utterance, voice, isCompared: speechFrames >= minVoiceFrames(models) }];
  });
  const voices = spoken.map(({ voice }) => voice);
  const compared = spoken.filter(({ isCompared }) => isCompared).map(({ voice }) => voice);
  if (mode === 'auto' && !soundLikeSeveral(compared, params)) return null;
  const isCompared = spoken.map((one) => one.isCompared);
  const groups = groupVoices(voices, isCompared, mode, params);
  const first = groups.find((group) => group !== null) ?? 0;
  const byUtterance = new Map(spoken.map(({ utterance }, index) => [utterance, groups[index] ?? null]));
  return utterances.map((utterance) => {
    const group = byUtterance.get(utterance) ?? null;
    return { ...utterance, speaker: group === null ? null : Number(group !== first) };
  });
}

type Turn = Segment & { readonly speaker: number | null };

/** Utterances of one speaker that follow one another, and what is between them. The first and the last have no end. */
function turnsOf(utterances: readonly Assigned[]): Turn[] {
  const turns: Turn[] = [];
  for (const { start, end, speaker } of utterances) {
    const last = turns.at(-1);
    if (last !== undefined && last.speaker === speaker) turns[turns.length - 1] = { ...last, end };
    else turns.push({ start, end, speaker });
  }
  return turns.length === 0
    ? [{ ...unbounded, speaker: 0 }]
    : turns.map((turn, index) => ({
        ...turn,
        start: index === 0 ? unbounded.start : turn.start,
        end: index === turns.length - 1 ? unbounded.end : turn.end,
      }));
}

async function joinTotals(utterances: readonly Scored[], models: Models): Promise<Totals> {
  const totals: Partial<Record<Signal, unknown>> = {};
  const [first] = utterances;
  if (first === undefined) return totals;
  for (const signal of Object.keys(first.totals ?? {}) as Signal[]) {
    const all = utterances.map((utterance) => utterance.totals?.[signal]);
    totals[signal] = await definitions[signal].join?.(all, models[signal]);
  }
  return totals;
}

/** The chunks with the speech of one speaker. */
function restrictToSpans(
  results: readonly ChunkResult[],
  {
    spans,
    totals,
    speaker,
  }: { readonly spans: readonly Segment[]; readonly totals: Totals; readonly speaker: number },
  utterances: readonly Assigned[],
  { features }: Models,
): ChunkResult[] {
  const framesPerSecond = features.sampleRate / features.hopLength;
  let [offset, index] = [0, 0];
  return results.map((result) => {
    const segments = intersect(result.segments, shift(spans, -offset));
    const inChunk = utterances.slice(index, index + result.utterances.length);
    const spoken = inChunk.filter((utterance) => utterance.speaker === speaker);
    const restricted = {
      ...result,
      segments,
      utterances: shift(spoken, -offset),
      runs: segments.length === 0 ? null : result.runs,
      totals,
      speechSeconds: countFrames(segments) / framesPerSecond,
    };
    offset += result.frames;
    index += result.utterances.length;
    return restricted;
  });
}
