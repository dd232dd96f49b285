/** Who speaks when, from the speech of two channels. */
import { countFrames, type Segment } from './segments.ts';
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
  /** Starts of speech inside the other's that last beyond its end. */
  readonly interruptions: Pair<number>;
};

/** @param channels on one time axis, each with segments in order that do not overlap */
export function describeConversation([first, second]: Pair<Span>): Conversation {
  const { framesPerSecond } = first;
  const seconds = (frames: number) => frames / framesPerSecond;
  const total = Math.max(1, countFrames(first.segments) + countFrames(second.segments));
  const compare = (one: Span, other: Span) => compareTurns(one.segments, other.segments);
  const [ofFirst, ofSecond] = [compare(first, second), compare(second, first)];
  return {
    talkShare: [countFrames(first.segments) / total, countFrames(second.segments) / total],
    overlapSeconds: seconds(ofFirst.overlap),
    responseGapsSeconds: [ofFirst.gaps.map(seconds), ofSecond.gaps.map(seconds)],
    interruptions: [ofFirst.interruptions, ofSecond.interruptions],
  };
}

/** Frames. One pass over both: `index` is the first segment of the other that ends after the start of the own one. */
function compareTurns(own: readonly Segment[], other: readonly Segment[]) {
  const gaps: number[] = [];
  let [overlap, interruptions, index] = [0, 0, 0];
  let ownEnd = Number.NEGATIVE_INFINITY;
  for (const { start, end } of own) {
    while ((other[index]?.end ?? Number.POSITIVE_INFINITY) <= start) index++;
    const current = other[index];
    if (current !== undefined && current.start < start && end > current.end) interruptions++;
    const before = other[index - 1];
    const isQuiet = current === undefined || current.start > start;
    if (isQuiet && before !== undefined && before.end > ownEnd) gaps.push(start - before.end);
    for (let at = index; (other[at]?.start ?? Number.POSITIVE_INFINITY) < end; at++) {
      const { start: from, end: to } = other[at] as Segment;
      overlap += Math.min(end, to) - Math.max(start, from);
    }
    ownEnd = end;
  }
  return { overlap, gaps, interruptions };
}
