/** Whether a recording sounds like several speakers: voices of its utterances, by a head of the trunk. */
import { z } from 'zod';
import { dot } from './arrays.ts';
import type { Session, Values } from './platform.ts';
import type { Encoded } from './utterances.ts';

/** Unit vector: near for utterances of one speaker. */
export type Voice = Float32Array;

export const severalSpeakersParams = z.strictObject({
  weights: z.strictObject({
    file: z.string().regex(/^\w[\w.-]*\.onnx$/),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  }),
  /** Shorter utterances do not count. */
  minUtteranceSeconds: z.number().positive(),
  /** Minimum utterances of each speaker. */
  minUtterances: z.int().positive(),
  /** A larger variance between two groups of utterances means several speakers. */
  threshold: z.number(),
  /** Of earlier models; not read. */
  minMargin: z.number().optional(),
  minChange: z.number().optional(),
  minVariance: z.number().optional(),
});
export type SeveralSpeakersParams = z.infer<typeof severalSpeakersParams>;

/** Bound of the starts of the search for two groups. */
const maxStarts = 32;
const maxSteps = 10;

export async function inferVoice({ embeddings, weights }: Encoded, session: Session): Promise<Voice> {
  const { voice } = await session.run({ tokens: embeddings, weights });
  return (voice as Values).data.slice();
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
  return divide(voices, minSize).between / voices.length;
}

/** `between`: sum of squares between two groups. `axis`: difference of their means. */
type Division = { readonly between: number; readonly axis: Float64Array };

/** The best of several starts. */
function divide(voices: readonly Voice[], minSize: number): Division {
  const step = Math.ceil(voices.length / maxStarts);
  const starts = voices.filter((_, index) => index % step === 0);
  const total = sumOf(voices);
  return starts
    .map((start) => divideFrom(start, voices, total, minSize))
    .reduce((best, found) => (found.between > best.between ? found : best));
}

/** Repeats the best cut along the axis through the means of both groups. */
function divideFrom(start: Voice, voices: readonly Voice[], total: Float64Array, minSize: number): Division {
  const other = voices.reduce((far, voice) => (dot(voice, start) < dot(far, start) ? voice : far), start);
  let best = cutAlong(differenceOf(start, 1, other, 1), voices, total, minSize);
  for (let steps = 0; steps < maxSteps; steps++) {
    const next = cutAlong(best.axis, voices, total, minSize);
    if (next.between <= best.between) break;
    best = next;
  }
  return best;
}

function cutAlong(
  direction: Float64Array,
  voices: readonly Voice[],
  total: Float64Array,
  minSize: number,
): Division {
  const along = voices.map((voice) => dot(voice, direction));
  const order = voices.map((_, index) => index).sort((one, other) => (along[one] ?? 0) - (along[other] ?? 0));
  const sorted = order.map((index) => voices[index] as Voice);
  const sum = new Float64Array(direction.length);
  let [between, size] = [-1, minSize];
  for (let count = 1; count <= voices.length - minSize; count++) {
    add(sum, sorted[count - 1] as Voice);
    const rest = voices.length - count;
    const found = count < minSize ? -1 : squaresBetween(sum, count, total, rest);
    if (found > between) [between, size] = [found, count];
  }
  const below = sumOf(sorted.slice(0, size));
  const above = differenceOf(total, 1, below, 1);
  const rest = voices.length - size;
  const axis = differenceOf(above, rest, below, size);
  return { between, axis };
}

/** @param sum of `count` voices; `total` is that of these and the `rest` others */
function squaresBetween(sum: Float64Array, count: number, total: Float64Array, rest: number): number {
  let squares = 0;
  for (let index = 0; index < sum.length; index++) {
    const below = sum[index] as number;
    const apart = ((total[index] as number) - below) / rest - below / count;
    squares += apart * apart;
  }
  return (squares * count * rest) / (count + rest);
}

type Vector = Float32Array | Float64Array;

/** Difference of two sums, each divided by its count. */
function differenceOf(one: Vector, oneCount: number, other: Vector, otherCount: number): Float64Array {
  return Float64Array.from(one, (value, index) => value / oneCount - (other[index] as number) / otherCount);
}

function sumOf(voices: readonly Voice[]): Float64Array {
  const sum = new Float64Array(voices[0]?.length ?? 0);
  for (const voice of voices) add(sum, voice);
  return sum;
}

function add(sum: Float64Array, voice: Vector): void {
  for (let index = 0; index < sum.length; index++) {
    sum[index] = (sum[index] as number) + (voice[index] as number);
  }
}
