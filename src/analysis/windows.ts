/** Cuts the span of speech into the windows that the trunk sees. */
import type { Segment } from './segments.ts';

/** A stretch of the recording, in frames, and how many of them are speech. */
export type Window = Segment & { readonly speechFrames: number };

/** A whole recording: nothing is known of what came before and after it. */
export const unbounded: Segment = { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY };

/** Context kept before the first and after the last speech of a recording, in seconds. */
const edgeSeconds = 0.2;
/** A window with less speech than this says nothing and is left out. */
const minSpeechSeconds = 0.25;

/**
 * Equal windows of at most `windowSeconds` over the span from first to last speech. Those with too little
 * speech are dropped, unless all are.
 * They may begin before the recording and end after it, so that its edges have their context, unless that would
 * take a window more.
 * @param frames length of the recording in frames
 * @param bounds no window reaches beyond them
 */
export function cutWindows(
  segments: readonly Segment[],
  frames: number,
  framesPerSecond: number,
  windowSeconds: number,
  bounds: Segment = unbounded,
): Window[] {
  const first = segments[0];
  const last = segments.at(-1);
  if (first === undefined || last === undefined) return [];
  const edge = Math.round(edgeSeconds * framesPerSecond);
  const longest = Math.round(windowSeconds * framesPerSecond);
  const wanted = {
    start: Math.max(bounds.start, first.start - edge),
    end: Math.min(bounds.end, last.end + edge),
  };
  const inside = { start: Math.max(0, wanted.start), end: Math.min(frames, wanted.end) };
  const length = inside.end - inside.start;
  const count = Math.ceil(length / longest);
  const room = Math.floor((count * longest - length) / 2);
  const start = Math.max(wanted.start, inside.start - room);
  const end = Math.min(wanted.end, inside.end + room);
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
