/** Voices of utterances: whether they are those of several speakers, which are whose, and where one utterance has two. */
import { z } from 'zod';
import type { Session, Values } from './platform.ts';
import type { Segment } from './segments.ts';
import type { Encoded } from './utterances.ts';

/** Voices on one channel that are separated: two, or one or two. */
export const speakerModes = ['2', 'auto'] as const;
export type SpeakerMode = (typeof speakerModes)[number];

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
  /** An utterance nearer to the middle between two speakers, who are 1 from it, belongs to neither. */
  minMargin: z.number().nonnegative(),
  /** The speaker changes between spans of an utterance that are so far from the middle, on either side of it. */
  minChange: z.number().positive(),
  /** With less variance between two groups of such spans, utterances are of one speaker, unless there are two. */
  minVariance: z.number().nonnegative(),
});
export type SeveralSpeakersParams = z.infer<typeof severalSpeakersParams>;

/** Bound of the starts of the search for two groups. */
const maxStarts = 32;
const maxSteps = 10;

/**
 * @param weights of the embeddings, one row per voice; none is 0 throughout
 * @returns a voice per row
 */
export async function inferVoices(
  { embeddings }: Pick<Encoded, 'embeddings'>,
  weights: Float32Array,
  session: Session,
): Promise<Voice[]> {
  const count = embeddings.shape[1] as number;
  const rows = weights.length / count;
  const outputs = await session.run({ tokens: embeddings, weights: { data: weights, shape: [rows, count] } });
  const { data } = outputs.voice as Values;
  const size = data.length / rows;
  return Array.from({ length: rows }, (_, row) => data.slice(row * size, (row + 1) * size));
}

export function soundLikeSeveral(
  voices: readonly Voice[],
  { minUtterances, threshold }: SeveralSpeakersParams,
): boolean {
  const variance = betweenVariance(voices, minUtterances);
  return variance !== null && variance > threshold;
}

/**
 * Two groups of voices.
 * @param isCompared whether a voice takes part in finding the groups: one of enough speech
 * @returns the group of each voice, 0 or 1; null for one that may be of either
 */
export function groupVoices(
  voices: readonly Voice[],
  isCompared: readonly boolean[],
  mode: SpeakerMode,
  { minMargin, minUtterances }: Pick<SeveralSpeakersParams, 'minMargin' | 'minUtterances'>,
): (number | null)[] {
  const long = voices.filter((_, index) => isCompared[index]);
  const compared = long.length < 2 ? voices : long;
  if (compared.length < 2) return voices.map(() => 0);
  return voices
    .map(placeBetween(divide(compared, mode === 'auto' ? minUtterances : 1)))
    .map((place) => (Math.abs(place) < minMargin ? null : Number(place > 0)));
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

/** `between`: sum of squares between two groups. `axis`: difference of their means. `middle`: between the means. */
type Division = { readonly between: number; readonly axis: Float64Array; readonly middle: Float64Array };

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
  return { between, axis, middle: axis.map((apart, index) => (below[index] as number) / size + apart / 2) };
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

/** Length of the speech whose voice is followed, its step, and the length at the ends of an utterance. */
const spanSeconds = 1.2;
const stepSeconds = 0.2;
const minSpanSeconds = 0.9;
/** Spans from which the two groups are found: those that do not overlap. */
const groupStep = Math.round(spanSeconds / stepSeconds);

/** The voice of an utterance as it goes on. */
type VoiceTrack = {
  /** Middles of the spans, in frames. */
  readonly moments: readonly number[];
  readonly voices: readonly Voice[];
};

/** @param first frame of the first embedding */
export async function followVoice(
  { start, end }: Segment,
  { embeddings, weights }: Encoded,
  {
    first,
    framesPerToken,
    framesPerSecond,
  }: Readonly<Record<'first' | 'framesPerToken' | 'framesPerSecond', number>>,
  session: Session,
): Promise<VoiceTrack> {
  const [span, step] = [spanSeconds * framesPerSecond, stepSeconds * framesPerSecond];
  const edge = minSpanSeconds * framesPerSecond - span / 2;
  const steps = Math.floor((end - start - 2 * edge) / step);
  const moments = Array.from({ length: Math.max(0, steps + 1) }, (_, index) => start + edge + index * step);
  if (moments.length === 0) return { moments, voices: [] };
  const count = weights.data.length;
  const at = (frame: number) => Math.min(count, Math.max(0, Math.round((frame - first) / framesPerToken)));
  const rows = new Float32Array(moments.length * count);
  for (const [index, moment] of moments.entries()) {
    const [from, to] = [at(Math.max(start, moment - span / 2)), at(Math.min(end, moment + span / 2))];
    rows.set(weights.data.subarray(from, to), index * count + from);
  }
  return { moments, voices: await inferVoices({ embeddings }, rows, session) };
}

/**
 * Where the speaker changes without a pause: between two spans that are surely of different speakers.
 * @param tracks of utterances of one recording
 * @returns frames, in order, for each track
 */
export function findChanges(
  tracks: readonly VoiceTrack[],
  mode: SpeakerMode,
  { minChange, minVariance, minUtterances }: SeveralSpeakersParams,
): number[][] {
  const compared = tracks.flatMap(({ voices }) => voices.filter((_, index) => index % groupStep === 0));
  const minCompared = mode === 'auto' ? 2 * minUtterances : 2;
  if (compared.length < minCompared) return tracks.map(() => []);
  const division = divide(compared, 1);
  if (mode === 'auto' && division.between / compared.length < minVariance) return tracks.map(() => []);
  const place = placeBetween(division);
  return tracks.map(({ moments, voices }) => {
    const changes: number[] = [];
    let last: { readonly sign: number; readonly index: number } | null = null;
    const places = voices.map(place);
    for (const [index, place] of places.entries()) {
      if (Math.abs(place) < minChange) continue;
      if (last !== null && Math.sign(place) !== last.sign) {
        const sign = Math.sign(place);
        const crossed = places.findIndex((other, at) => at > (last?.index ?? 0) && Math.sign(other) === sign);
        changes.push(((moments[crossed - 1] as number) + (moments[crossed] as number)) / 2);
      }
      last = { sign: Math.sign(place), index };
    }
    return changes;
  });
}

/** @returns where a voice is between two groups: their means are -1 and 1 */
function placeBetween({ axis, middle }: Division): (voice: Voice) => number {
  const [half, origin] = [dot(axis, axis) / 2, dot(middle, axis)];
  return (voice) => (dot(voice, axis) - origin) / half;
}

type Vector = Float32Array | Float64Array;

function dot(one: Vector, other: Vector): number {
  let sum = 0;
  for (let index = 0; index < one.length; index++) sum += (one[index] as number) * (other[index] as number);
  return sum;
}

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
