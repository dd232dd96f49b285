/** Who speaks when, from the speech of two channels or speakers. */

import { countFrames, intersect, type Segment } from './segments.ts';
import type { Span } from './signals/speaker.ts';

/** A value per channel. */
type Pair<Value> = readonly [Value, Value];

type Conversation = {
  /** Share of the speech of both channels, 0 to 1; 0 without speech. */
  readonly talkShare: Pair<number>;
  /** Seconds in which both speak. */
  readonly overlapSeconds: number;
  /** Seconds from the end of the other's speech to each answer. */
  readonly responseGapsSeconds: Pair<readonly number[]>;
  /** Starts of speech inside the other's that overlap it for `minInterruptionSeconds` and last beyond its end. */
  readonly interruptions: Pair<number>;
};

/**
 * Shorter overlaps are ordinary changes of turns: their median is about 0.2 s (Levinson & Torreira 2015,
 * doi:10.3389/fpsyg.2015.00731).
 */
const minInterruptionSeconds = 0.5;

/**
 * @param channels on one time axis, each with segments in order that do not overlap
 * @param unassigned speech of neither, and missing audio: a gap with some of it is no silence
 */
export function describeConversation(
  [first, second]: Pair<Span>,
  unassigned: readonly Segment[] = [],
): Conversation {
  const { framesPerSecond } = first;
  const seconds = (frames: number) => frames / framesPerSecond;
  const total = Math.max(1, countFrames(first.segments) + countFrames(second.segments));
  const minInterruption = minInterruptionSeconds * framesPerSecond;
  const compare = (one: Span, other: Span) => compareTurns(one.segments, other.segments, minInterruption);
  const silences = (gaps: readonly Segment[]) =>
    gaps
      .filter((gap) => intersect([gap], unassigned).length === 0)
      .map(({ start, end }) => seconds(end - start));
  const [ofFirst, ofSecond] = [compare(first, second), compare(second, first)];
  return {
    talkShare: [countFrames(first.segments) / total, countFrames(second.segments) / total],
    overlapSeconds: seconds(ofFirst.overlap),
    responseGapsSeconds: [silences(ofFirst.gaps), silences(ofSecond.gaps)],
    interruptions: [ofFirst.interruptions, ofSecond.interruptions],
  };
}

/** Frames. One pass over both: `index` is the first segment of `other` that ends after the start of one of `turns`. */
function compareTurns(turns: readonly Segment[], other: readonly Segment[], minInterruption: number) {
  const gaps: Segment[] = [];
  let [overlap, interruptions, index] = [0, 0, 0];
  let lastEnd = Number.NEGATIVE_INFINITY;
  for (const { start, end } of turns) {
    while ((other[index]?.end ?? Number.POSITIVE_INFINITY) <= start) index++;
    const current = other[index];
    const outlasts = current !== undefined && current.start < start && end > current.end;
    if (outlasts && current.end - start >= minInterruption) interruptions++;
    const before = other[index - 1];
    const isQuiet = current === undefined || current.start > start;
    if (isQuiet && before !== undefined && before.end > lastEnd) gaps.push({ start: before.end, end: start });
    for (let at = index; (other[at]?.start ?? Number.POSITIVE_INFINITY) < end; at++) {
      const { start: from, end: to } = other[at] as Segment;
      overlap += Math.min(end, to) - Math.max(start, from);
    }
    lastEnd = end;
  }
  return { overlap, gaps, interruptions };
}
