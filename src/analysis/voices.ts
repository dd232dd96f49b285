/** Voices of utterances, and whether they are those of several speakers. */
import { z } from 'zod';
import type { Session, Values } from '../models/session.ts';
import type { EncodedWindow } from './encode.ts';

/** Unit vector: near for utterances of one speaker. */
export type Voice = Float32Array;

export const severalSpeakersParams = z.strictObject({
  weights: z.strictObject({
    file: z.string().regex(/^[\w.-]+$/),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  }),
  /** Shorter utterances do not count. */
  minUtteranceSeconds: z.number().positive(),
  /** Minimum utterances of each speaker. */
  minUtterances: z.int().positive(),
  /** A larger variance between two groups of utterances means several speakers. */
  threshold: z.number(),
});
export type SeveralSpeakersParams = z.infer<typeof severalSpeakersParams>;

/** Bound of the starts of the search for two groups. */
const maxStarts = 32;
const maxSteps = 10;

export async function inferVoices(
  utterances: readonly EncodedWindow[],
  session: Session,
  minFrames: number,
): Promise<Voice[]> {
  const voices: Voice[] = [];
  for (const { window, embeddings, weights } of utterances) {
    if (window.speechFrames < minFrames) continue;
    const outputs = await session.run({ tokens: embeddings, weights });
    voices.push((outputs.voice as Values).data);
  }
  return voices;
}

export function soundLikeSeveral(
  voices: readonly Voice[],
  { minUtterances, threshold }: SeveralSpeakersParams,
): boolean {
  const variance = betweenVariance(voices, minUtterances);
  return variance !== null && variance > threshold;
}

/**
 * The largest variance between two groups of voices, by 2-means from several starts; at most 1.
 * @param minSize of a group
 * @returns null with too few voices for two groups
 */
export function betweenVariance(voices: readonly Voice[], minSize: number): number | null {
  if (voices.length < 2 * minSize) return null;
  const step = Math.ceil(voices.length / maxStarts);
  const starts = voices.filter((_, index) => index % step === 0);
  return Math.max(...starts.map((start) => divideFrom(start, voices, minSize).between)) / voices.length;
}

/** `between`: sum of squares between two groups. `axis`: difference of their means. */
type Division = { readonly between: number; readonly axis: Float64Array };

/** Repeats the best cut along the axis through the means of both groups. */
function divideFrom(start: Voice, voices: readonly Voice[], minSize: number): Division {
  const other = voices.reduce((far, voice) => (dot(voice, start) < dot(far, start) ? voice : far), start);
  let best = cutAlong(subtract(start, other), voices, minSize);
  for (let steps = 0; steps < maxSteps; steps++) {
    const next = cutAlong(best.axis, voices, minSize);
    if (next.between <= best.between) break;
    best = next;
  }
  return best;
}

function cutAlong(axis: Float64Array, voices: readonly Voice[], minSize: number): Division {
  const sorted = voices
    .map((voice) => ({ voice, along: dot(voice, axis) }))
    .sort((one, another) => one.along - another.along);
  const total = new Float64Array(axis.length);
  for (const voice of voices) add(total, voice);
  const sum = new Float64Array(axis.length);
  let best: Division = { between: -1, axis };
  sorted.slice(0, voices.length - minSize).forEach(({ voice }, index) => {
    add(sum, voice);
    const size = index + 1;
    if (size < minSize) return;
    const rest = voices.length - size;
    const apart = total.map((value, at) => (value - (sum[at] as number)) / rest - (sum[at] as number) / size);
    const between = (dot(apart, apart) * size * rest) / voices.length;
    if (between > best.between) best = { between, axis: apart };
  });
  return best;
}

type Vector = Float32Array | Float64Array;

function dot(one: Vector, other: Vector): number {
  let sum = 0;
  for (let index = 0; index < one.length; index++) sum += (one[index] as number) * (other[index] as number);
  return sum;
}

function subtract(one: Vector, other: Vector): Float64Array {
  return Float64Array.from(one, (value, index) => value - (other[index] as number));
}

function add(sum: Float64Array, voice: Vector): void {
  for (let index = 0; index < sum.length; index++) {
    sum[index] = (sum[index] as number) + (voice[index] as number);
  }
}
