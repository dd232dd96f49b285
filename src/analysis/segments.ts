/** Frame-wise speech probability -> segments of speech. */

type SegmentParams = {
  /** Speech probability that starts a segment, and the lower one that ends it. */
  readonly onset: number;
  readonly offset: number;
  readonly minSpeechSeconds: number;
  readonly minPauseSeconds: number;
};

/** A span of speech, in frames: `start` included, `end` excluded. */
export type Segment = { readonly start: number; readonly end: number };

/**
 * Hysteresis: a segment opens at `onset` and closes below `offset`. Gaps under `minPauseSeconds` are
 * speech; segments under `minSpeechSeconds` are not.
 * @param speech probability in [0, 1] of each frame
 */
export function findSegments(
  speech: Float32Array,
  framesPerSecond: number,
  params: SegmentParams,
): Segment[] {
  const raw = hysteresis(speech, params.onset, params.offset);
  const joined = joinGaps(raw, params.minPauseSeconds * framesPerSecond);
  return joined.filter((segment) => segment.end - segment.start >= params.minSpeechSeconds * framesPerSecond);
}

function hysteresis(speech: Float32Array, onset: number, offset: number): Segment[] {
  const segments: Segment[] = [];
  let start = -1;
  for (let frame = 0; frame < speech.length; frame++) {
    const probability = speech[frame] as number;
    if (start < 0 && probability >= onset) start = frame;
    else if (start >= 0 && probability < offset) {
      segments.push({ start, end: frame });
      start = -1;
    }
  }
  if (start >= 0) segments.push({ start, end: speech.length });
  return segments;
}

/** Joins segments with gaps under `minGap` frames. */
export function joinGaps(segments: readonly Segment[], minGap: number): Segment[] {
  const joined: Segment[] = [];
  for (const segment of segments) {
    const last = joined.at(-1);
    if (last !== undefined && segment.start - last.end < minGap)
      joined[joined.length - 1] = { start: last.start, end: segment.end };
    else joined.push(segment);
  }
  return joined;
}

/** The whole recording, and what precedes and follows it. */
export const unbounded: Segment = { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY };

export function shift<Part extends Segment>(parts: readonly Part[], frames: number): Part[] {
  return parts.map((part) => ({ ...part, start: part.start + frames, end: part.end + frames }));
}

/** The parts inside `span`. */
export function clipSegments(segments: readonly Segment[], span: Segment): Segment[] {
  return segments
    .map(({ start, end }) => ({ start: Math.max(start, span.start), end: Math.min(end, span.end) }))
    .filter(({ start, end }) => start < end);
}

/** Mean over the frames of the segments; 0 without segments. */
export function meanOver(segments: readonly Segment[], values: Float32Array): number {
  let sum = 0;
  for (const { start, end } of segments) {
    for (let frame = start; frame < end; frame++) sum += values[frame] as number;
  }
  return sum / Math.max(1, countFrames(segments));
}

export function countFrames(segments: readonly Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.end - segment.start, 0);
}
