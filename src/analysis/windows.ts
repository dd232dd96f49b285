/** Cuts the span of speech into input windows of the trunk. */
import type { ManifestOf } from '../models/manifest.ts';
import type { Segment } from './segments.ts';

type WindowParams = Pick<
  ManifestOf<'trunk'>['params'],
  'windowSeconds' | 'edgeSeconds' | 'minWindowSpeechSeconds'
>;

/** A part of the recording, in frames. */
export type Window = Segment & { readonly speechFrames: number };

/** Bounds of a whole recording: windows may extend beyond its ends. */
export const unbounded: Segment = { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY };

/**
 * Equal windows of at most `windowSeconds` over the span from first to last speech, with `edgeSeconds` of context.
 * The context may lie outside the recording, unless that adds a window.
 * Windows with less speech than `minWindowSpeechSeconds` are dropped, unless all have less.
 * @param frames length of the recording in frames
 * @param bounds limits of all windows, in frames
 */
export function cutWindows(
  segments: readonly Segment[],
  frames: number,
  framesPerSecond: number,
  { windowSeconds, edgeSeconds, minWindowSpeechSeconds }: WindowParams,
  bounds: Segment = unbounded,
): Window[] {
  const first = segments[0];
  const last = segments.at(-1);
  if (first === undefined || last === undefined) return [];
  const edge = Math.round(edgeSeconds * framesPerSecond);
  const maxLength = Math.round(windowSeconds * framesPerSecond);
  const padded = {
    start: Math.max(bounds.start, first.start - edge),
    end: Math.min(bounds.end, last.end + edge),
  };
  const inside = { start: Math.max(0, padded.start), end: Math.min(frames, padded.end) };
  const length = inside.end - inside.start;
  const count = Math.ceil(length / maxLength);
  const room = Math.floor((count * maxLength - length) / 2);
  const start = Math.max(padded.start, inside.start - room);
  const end = Math.min(padded.end, inside.end + room);
  const windows: Window[] = [];
  for (let index = 0; index < count; index++) {
    const from = start + Math.floor(((end - start) * index) / count);
    const to = start + Math.floor(((end - start) * (index + 1)) / count);
    const speechFrames = overlap(segments, from, to);
    if (speechFrames > 0) windows.push({ start: from, end: to, speechFrames });
  }
  const minSpeechFrames = minWindowSpeechSeconds * framesPerSecond;
  const usable = windows.filter(({ speechFrames }) => speechFrames >= minSpeechFrames);
  return usable.length > 0 ? usable : windows;
}

function overlap(segments: readonly Segment[], from: number, to: number): number {
  let frames = 0;
  for (const { start, end } of segments) frames += Math.max(0, Math.min(end, to) - Math.max(start, from));
  return frames;
}
