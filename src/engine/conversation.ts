/** Who speaks when, from the speech of two channels, or of two speakers or more. */

import { countFrames, intersect, type Segment, union } from './segments.ts';
import type { Span } from './signals/speaker.ts';

/** Values per channel or speaker. */
type Conversation = {
  /** Share of the speech of all, 0 to 1; 0 without speech. */
  readonly talkShare: number[];
  /** Seconds in which several speak. */
  readonly overlapSeconds: number;
  /** Seconds from the end of another one's speech to each answer. */
  readonly responseGapsSeconds: number[][];
  /** Starts of speech inside another one's that overlap it for `minInterruptionSeconds` and last beyond its end. */
  readonly interruptions: number[];
};

/**
 * Shorter overlaps are ordinary changes of turns: their median is about 0.2 s (Levinson & Torreira 2015,
 * doi:10.3389/fpsyg.2015.00731).
 */
const minInterruptionSeconds = 0.5;

/**
 * @param spans at least two on one time axis, each with segments in order that do not overlap
 * @param unassigned speech of none of them, and missing audio: a gap with some of it is no silence
 */
export function describeConversation(
  spans: readonly Span[],
  unassigned: readonly Segment[] = [],
): Conversation {
  const { framesPerSecond } = spans[0] as Span;
  const seconds = (frames: number) => frames / framesPerSecond;
  const frames = spans.map(({ segments }) => countFrames(segments));
  const total = Math.max(
    1,
    frames.reduce((sum, count) => sum + count, 0),
  );
  const others = spans.map((_, index) =>
    union(spans.filter((_, other) => other !== index).flatMap(({ segments }) => segments)),
  );
  const overlaps = spans.flatMap(({ segments }, index) => intersect(segments, others[index] as Segment[]));
  const minInterruption = minInterruptionSeconds * framesPerSecond;
  const turns = spans.map(({ segments }, index) =>
    compareTurns(segments, others[index] as Segment[], minInterruption),
  );
  const isSilent = (gap: Segment) => intersect([gap], unassigned).length === 0;
  return {
    talkShare: frames.map((count) => count / total),
    overlapSeconds: seconds(countFrames(union(overlaps))),
    responseGapsSeconds: turns.map(({ gaps }) =>
      gaps.filter(isSilent).map(({ start, end }) => seconds(end - start)),
    ),
    interruptions: turns.map(({ interruptions }) => interruptions),
  };
}

/** Frames. One pass over both: `index` is the first segment of `other` that ends after the start of one of `turns`. */
function compareTurns(turns: readonly Segment[], other: readonly Segment[], minInterruption: number) {
  const gaps: Segment[] = [];
  let [interruptions, index] = [0, 0];
  let lastEnd = Number.NEGATIVE_INFINITY;
  for (const { start, end } of turns) {
    while ((other[index]?.end ?? Number.POSITIVE_INFINITY) <= start) index++;
    const current = other[index];
    const outlasts = current !== undefined && current.start < start && end > current.end;
    if (outlasts && current.end - start >= minInterruption) interruptions++;
    const before = other[index - 1];
    const isQuiet = current === undefined || current.start > start;
    if (isQuiet && before !== undefined && before.end > lastEnd) gaps.push({ start: before.end, end: start });
    lastEnd = end;
  }
  return { gaps, interruptions };
}
