/** Voices on one channel: the utterances of a recording -> the chunks of each speaker. */

import { shiftToRecording } from './aggregate.ts';
import type { ChunkResult } from './analyze-chunk.ts';
import { partsOf, type Scored, type Totals } from './embeddings.ts';
import type { Execution } from './execution.ts';
import type { Models } from './loader.ts';
import { countFrames, intersect, type Segment, shift, unbounded } from './segments.ts';
import { definitions, type Signal } from './signals/table.ts';
import { joinVoices, type SpeakerMode, voiceModelOf } from './voices.ts';

/** An utterance in frames of the recording, and its speaker from 0; null for one that may be of several. */
type Assigned = Scored & { readonly speaker: number | null };

/**
 * Voices are compared within the recording alone, and no voice is kept.
 * @param whole results of the recording, whose voices have totals, and whose utterances are parts or have parts
 * @returns results of each speaker, in the order in which they first speak. Of a number of speakers the last may have no speech.
 *   With `auto` and one voice: `whole`, by its utterances and not by their parts
 */
export async function separateSpeakers(
  whole: readonly ChunkResult[],
  mode: SpeakerMode,
  models: Models,
  execution: Execution,
): Promise<readonly (readonly ChunkResult[])[]> {
  const results = whole.map((result) => ({ ...result, utterances: result.utterances.flatMap(partsOf) }));
  const { params } = voiceModelOf(models).manifest;
  const voices = await joinVoices(
    whole.map((result) => result.voices),
    mode,
    params,
    execution,
  );
  const { utterances, order } = assign(results, voices);
  const count = mode === 'auto' ? order.length : Number(mode);
  if (count <= 1) return [whole];
  const turns = turnsOf(utterances);
  execution.endStage('voices');
  const speakers: ChunkResult[][] = [];
  for (let speaker = 0; speaker < count; speaker++) {
    await execution.yieldToOthers();
    const spans = turns.filter((turn) => turn.speaker === speaker);
    const totals = await joinTotals(
      results.flatMap(({ voiceTotals }, chunk) =>
        voiceTotals.filter((_, voice) => voices[chunk]?.[voice] === order[speaker]),
      ),
      models,
    );
    speakers.push(restrictToSpans(results, { spans, totals, speaker }, utterances, models));
    execution.endStage('voices');
  }
  return speakers;
}

/** @param voices of the recording, for each voice of each chunk @returns `order`: the voices with an utterance, as they first speak */
function assign(
  results: readonly ChunkResult[],
  voices: readonly (readonly number[])[],
): { readonly utterances: Assigned[]; readonly order: readonly number[] } {
  const order: number[] = [];
  const withVoices = results.map((result, index) => ({
    frames: result.frames,
    utterances: result.utterances.map((utterance) => {
      const { chunkVoice } = utterance;
      if (chunkVoice === null) return { ...utterance, speaker: null };
      const voice = voices[index]?.[chunkVoice] as number;
      if (!order.includes(voice)) order.push(voice);
      return { ...utterance, speaker: order.indexOf(voice) };
    }),
  }));
  const utterances = shiftToRecording(withVoices, (result) => result.utterances);
  return { utterances, order };
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

async function joinTotals(all: readonly Totals[], models: Models): Promise<Totals> {
  const joined: Partial<Record<Signal, unknown>> = {};
  for (const signal of Object.keys(all[0] ?? {}) as Signal[]) {
    const ofSignal = all.map((totals) => totals[signal]);
    joined[signal] = await definitions[signal].join?.(ofSignal, models[signal]);
  }
  return joined;
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
