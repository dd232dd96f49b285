/** Results of a stream that measurements need until its end: of its samples before `settled`, as text. */
import type { ChunkResult } from './chunk-result.ts';
import { clipSegments, countFrames, type Segment } from './segments.ts';
import { definitions, type Signal } from './signals/table.ts';

/** Whether measurements have the signal of the session so far. */
export function isCumulative(signal: Signal): boolean {
  return definitions[signal].compact !== undefined;
}

/** The frames of `span`, an entry of the timeline, of the cumulative signals alone. The entry is the only window. */
export function compactChunk(result: ChunkResult, span: Segment, framesPerSecond: number): ChunkResult {
  const segments = clipSegments(result.segments, span).map(({ start, end }) => ({
    start: start - span.start,
    end: end - span.start,
  }));
  const frames = span.end - span.start;
  const speechFrames = countFrames(segments);
  const isEntry = ({ start, end }: Segment) => start === span.start && end === span.end;
  const entry = speechFrames === 0 ? -1 : result.timeline.findIndex(isEntry);
  const signals = Object.entries(result.signals).flatMap(([signal, chunk]) => {
    const compacted = definitions[signal as Signal].compact?.(chunk, span, entry);
    return compacted === undefined ? [] : [[signal, compacted]];
  });
  return {
    ...result,
    frames,
    speechSeconds: speechFrames / framesPerSecond,
    segments,
    windows: entry < 0 ? [] : [{ start: 0, end: frames, speechFrames }],
    timeline: [],
    signals: Object.fromEntries(signals),
  };
}

/** JSON, with arrays of 32-bit floats as Base64. */
export function serializeChunk(result: ChunkResult): string {
  return JSON.stringify(result, (_, value) =>
    value instanceof Float32Array
      ? { float32: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') }
      : value,
  );
}

export function parseChunk(text: string): ChunkResult {
  return JSON.parse(text, (_, value) => {
    if (typeof value?.float32 !== 'string') return value;
    return new Float32Array(Uint8Array.from(Buffer.from(value.float32, 'base64')).buffer);
  });
}
