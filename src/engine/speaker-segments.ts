/** Segments of a caller that name speakers -> the speech of each speaker. */
import type { SpeakerSegment } from './options.ts';
import { EngineError } from './platform.ts';
import { countFrames, intersect, type Segment, shift, subtract, union } from './segments.ts';
import type { SpeechAnalysis } from './speech.ts';

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
  return all.map((spoken, index) => {
    const others = union(all.flatMap((spans, other) => (other === index ? [] : spans)));
    return subtract(spoken, others);
  });
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

/** @throws EngineError for a segment that starts after the end of the recording, whose length is `seconds` */
export function checkStarts(segments: readonly SpeakerSegment[], seconds: number): void {
  const last = segments.at(-1);
  if (last === undefined || last.start < seconds) return;
  const end = Math.max(...segments.map((segment) => segment.end)) / 1000;
  const isMilliseconds = end > seconds / 20 && end < seconds + 1;
  const hint = isMilliseconds ? ': these are most likely milliseconds' : '';
  const expected = `seconds within the ${seconds.toFixed(1)} s of the recording`;
  throw new EngineError(
    'segments',
    'segments',
    `Expected ${expected} for \`segments\`, got a start at ${last.start} s${hint}`,
  );
}
