/** Gaps between the packets of a file: silence that was not sent, or missing audio. */
import { digitalSilence } from './quality.ts';
import { countFrames, meanOver, type Segment } from './segments.ts';
import type { DetectedSpeech } from './speech.ts';

/** A gap in frames, and whether it cuts speech off. */
export type Gap = Segment & { readonly cutsSpeech: boolean };

/** A longer gap is no silence that was not sent: encoders send noise in pauses, at least every 0.4 s. */
const maxSilentSeconds = 2;
/** Sound before a gap that decides whether it cuts speech off: encoders go on for 0.2 s after speech. */
const edgeSeconds = 0.04;
/** Speech is at most so much weaker than its mean, and at least so much stronger than the noise. */
const maxBelowSpeechDb = 20;
const minAboveNoiseDb = 6;

/** @param seconds starts and ends in turn */
export function toGapFrames(seconds: Float64Array, framesPerSecond: number): Segment[] {
  const frameOf = (index: number) => Math.round((seconds[index] as number) * framesPerSecond);
  return Array.from({ length: seconds.length / 2 }, (_, index) => ({
    start: frameOf(2 * index),
    end: frameOf(2 * index + 1),
  }));
}

/**
 * The parts of the gaps inside a chunk that may be missing audio.
 * @param gaps in frames of the chunk
 * @param offset speech probability under which speech ends
 */
export function describeGaps(gaps: readonly Segment[], speech: DetectedSpeech, offset: number): Gap[] {
  if (gaps.length === 0) return [];
  const { power, speechProbability, framesPerSecond } = speech;
  const edge = Math.round(edgeSeconds * framesPerSecond);
  const minPower = minSpeechPower(speech);
  const isSpeech = (start: number, end: number) =>
    meanOver([{ start, end }], power) >= minPower &&
    speechProbability.subarray(start, end).some((probability) => probability >= offset);
  return gaps.flatMap((gap) => {
    const [start, end] = [Math.max(0, gap.start), Math.min(power.length, gap.end)];
    if (start >= end) return [];
    const cutsSpeech = start >= edge && isSpeech(start - edge, start);
    const continues = start === 0 || end === power.length;
    const part = { start, end, cutsSpeech };
    return continues || isMissing(part, framesPerSecond) ? [part] : [];
  });
}

function minSpeechPower({ power, segments }: DetectedSpeech): number {
  const isSpeech = new Uint8Array(power.length);
  for (const { start, end } of segments) isSpeech.fill(1, start, end);
  const noise = power.filter((value, frame) => isSpeech[frame] === 0 && value > digitalSilence);
  const whole = [{ start: 0, end: noise.length }];
  return Math.max(
    meanOver(segments, power) / 10 ** (maxBelowSpeechDb / 10),
    meanOver(whole, noise) * 10 ** (minAboveNoiseDb / 10),
  );
}

function isMissing(gap: Gap, framesPerSecond: number): boolean {
  return gap.cutsSpeech || countFrames([gap]) > maxSilentSeconds * framesPerSecond;
}

/** The missing audio of a recording. A cut between chunks may have divided a gap. */
export function missingAudio(gaps: readonly Gap[], framesPerSecond: number): Segment[] {
  const joined: Gap[] = [];
  for (const gap of gaps) {
    const last = joined.at(-1);
    if (last !== undefined && gap.start <= last.end) joined[joined.length - 1] = { ...last, end: gap.end };
    else joined.push(gap);
  }
  return joined.filter((gap) => isMissing(gap, framesPerSecond)).map(({ start, end }) => ({ start, end }));
}
