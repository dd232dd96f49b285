/** What of a recording is analysed: channels, or the speech of each speaker in segments of the caller. */
import { countFrames, type Segment, shift } from './segments.ts';
import type { SpeechAnalysis } from './speech.ts';

/** `split`: each of two channels is analysed alone. */
export const channelModes = ['split'] as const;
export type ChannelMode = (typeof channelModes)[number];

/** Speech of one speaker, in seconds. */
export type SpeakerSegment = { readonly start: number; readonly end: number; readonly speaker: string };

/** How a recording is analysed. */
export type AnalyzeOptions = {
  /** 0-based channel, or null for the average of all. */
  readonly channel: number | null;
  /** Null: one analysis of `channel`. */
  readonly channels: ChannelMode | null;
  /** In order of their starts: one analysis per speaker. Null: one for all. */
  readonly segments: readonly SpeakerSegment[] | null;
};

export const defaultOptions: AnalyzeOptions = {
  channel: null,
  channels: null,
  segments: null,
};

/** Jobs with longer recordings have a queue of their own, s. */
export const longSeconds = 900;

/** Names in order of their first segments. */
export function speakersOf(segments: readonly SpeakerSegment[]): string[] {
  return [...new Set(segments.map(({ speaker }) => speaker))];
}

/**
 * Spans in which one speaker alone has a segment, in frames, for each of `speakersOf`. Speech in which segments of two
 * speakers overlap belongs to neither.
 */
export function soloSpans(segments: readonly SpeakerSegment[], framesPerSecond: number): Segment[][] {
  const toFrames = ({ start, end }: SpeakerSegment): Segment => ({
    start: Math.round(start * framesPerSecond),
    end: Math.round(end * framesPerSecond),
  });
  const all = speakersOf(segments).map((name) =>
    union(segments.filter(({ speaker }) => speaker === name).map(toFrames)),
  );
  return all.map((own, index) => {
    const others = union(all.flatMap((spans, other) => (other === index ? [] : spans)));
    return subtract(own, others);
  });
}

/** Joins spans that touch or overlap. */
function union(spans: readonly Segment[]): Segment[] {
  const joined: Segment[] = [];
  for (const span of spans.toSorted((one, other) => one.start - other.start)) {
    const last = joined.at(-1);
    if (last === undefined || span.start > last.end) joined.push(span);
    else joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
  }
  return joined;
}

function intersect(spans: readonly Segment[], others: readonly Segment[]): Segment[] {
  return spans.flatMap(({ start, end }) =>
    others.flatMap((other) => {
      const part = { start: Math.max(start, other.start), end: Math.min(end, other.end) };
      return part.end > part.start ? [part] : [];
    }),
  );
}

function subtract(spans: readonly Segment[], others: readonly Segment[]): Segment[] {
  const gaps = [...others, { start: Number.POSITIVE_INFINITY, end: Number.POSITIVE_INFINITY }].map(
    ({ start }, index) => ({ start: others[index - 1]?.end ?? Number.NEGATIVE_INFINITY, end: start }),
  );
  return intersect(spans, gaps);
}

/**
 * The chunk with the speech inside `spans` alone. Utterances lie inside `spans`, so that no other voice is their context.
 * @param spans in frames of the recording
 * @param offset of the chunk in the recording, in frames
 */
export function restrictToSpeaker<Chunk extends { readonly speech: SpeechAnalysis }>(
  { speech, ...chunk }: Chunk,
  spans: readonly Segment[],
  offset: number,
) {
  const bounds = intersect(shift(spans, -offset), [{ start: 0, end: speech.power.length }]);
  const segments = intersect(speech.segments, bounds);
  const speechProbability = new Float32Array(speech.speechProbability.length);
  for (const { start, end } of bounds) {
    speechProbability.set(speech.speechProbability.subarray(start, end), start);
  }
  const speechSeconds = countFrames(segments) / speech.framesPerSecond;
  return { ...chunk, speech: { ...speech, segments, speechProbability, speechSeconds }, bounds };
}
