/** Cuts the span of speech into the windows that the trunk sees. */
import type { Segment } from './segments.ts';

/** A stretch of the recording, in frames, and how many of them are speech. */
export type Window = Segment & { readonly speechFrames: number };

/** Context kept before the first and after the last speech of a recording, in seconds. */
const edgeSeconds = 0.2;
/** A window with less speech than this says nothing and is left out. */
const minSpeechSeconds = 0.25;

/**
 * Equal windows of at most `windowSeconds` over the span from first to last speech. Those with too little
 * speech are dropped, unless all are.
 * @param frames length of the recording in frames
 */
export function cutWindows(
  segments: readonly Segment[],
  frames: number,
  framesPerSecond: number,
  windowSeconds: number,
): Window[] {
  const first = segments[0];
  const last = segments.at(-1);
  if (first === undefined || last === undefined) return [];
  const edge = Math.round(edgeSeconds * framesPerSecond);
  const start = Math.max(0, first.start - edge);
  const end = Math.min(frames, last.end + edge);
  const count = Math.ceil((end - start) / Math.round(windowSeconds * framesPerSecond));
  const windows: Window[] = [];
  for (let index = 0; index < count; index++) {
    const from = start + Math.floor(((end - start) * index) / count);
    const to = start + Math.floor(((end - start) * (index + 1)) / count);
    const speechFrames = overlap(segments, from, to);
    if (speechFrames > 0) windows.push({ start: from, end: to, speechFrames });
  }
  const telling = windows.filter(({ speechFrames }) => speechFrames >= minSpeechSeconds * framesPerSecond);
  return telling.length > 0 ? telling : windows;
}

function overlap(segments: readonly Segment[], from: number, to: number): number {
  let frames = 0;
  for (const { start, end } of segments) frames += Math.max(0, Math.min(end, to) - Math.max(start, from));
  return frames;
}
