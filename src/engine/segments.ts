/** Spans of frames: joined, clipped, shifted, intersected. */

/** A span of speech, in frames: `start` included, `end` excluded. */
export type Segment = { readonly start: number; readonly end: number };

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

/** Joins spans that touch or overlap. */
export function union(spans: readonly Segment[]): Segment[] {
  const joined: Segment[] = [];
  for (const span of spans.toSorted((one, other) => one.start - other.start)) {
    const last = joined.at(-1);
    if (last === undefined || span.start > last.end) joined.push(span);
    else joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
  }
  return joined;
}

/** Both in order, without overlaps. */
export function intersect(spans: readonly Segment[], others: readonly Segment[]): Segment[] {
  const parts: Segment[] = [];
  let next = 0;
  for (const { start, end } of spans) {
    while ((others[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next++;
    for (let at = next; (others[at]?.start ?? Number.POSITIVE_INFINITY) < end; at++) {
      const other = others[at] as Segment;
      parts.push({ start: Math.max(start, other.start), end: Math.min(end, other.end) });
    }
  }
  return parts;
}

/** What of `spans` is outside of `others`: both in order, without overlaps. */
export function subtract(spans: readonly Segment[], others: readonly Segment[]): Segment[] {
  const gaps = [...others, { start: Number.POSITIVE_INFINITY, end: Number.POSITIVE_INFINITY }].map(
    ({ start }, index) => ({ start: others[index - 1]?.end ?? Number.NEGATIVE_INFINITY, end: start }),
  );
  return intersect(spans, gaps);
}
