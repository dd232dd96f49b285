/** Whether a recording sounds like several speakers: windows of its utterances in two groups, and how near these are. */
import { z } from 'zod';
import { largestSimilarity } from './clustering.ts';
import type { Session, Values } from './platform.ts';
import { countFrames, type Segment } from './segments.ts';
import type { Encoded, VoiceFrames } from './utterances.ts';
import { apart, type ChunkVoice, clusterVoices, rowsOf } from './voices.ts';

const weights = z.strictObject({
  file: z.string().regex(/^\w[\w.-]*\.onnx$/),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** Of models before 4.0.0, whose warning is not raised any more. */
export const earlierParams = z
  .strictObject({
    weights,
    minUtteranceSeconds: z.number(),
    minUtterances: z.number(),
    threshold: z.number(),
    minMargin: z.number(),
    minChange: z.number(),
    minVariance: z.number(),
  })
  .partial()
  .transform(() => undefined);

export const severalSpeakersParams = z.strictObject({
  weights,
  /** Frames of one row of what the graph reads. */
  framesPerEmbedding: z.int().positive(),
  /** Shorter utterances do not count. */
  minUtteranceSeconds: z.number().positive(),
  ...apart.shape,
  /** Of the speech that counts, that of each voice. */
  minShare: z.number().min(0).max(1),
});
export type SeveralSpeakersParams = z.infer<typeof severalSpeakersParams>;

/** One window is read per `step` seconds of an utterance, at least one; per more seconds in a chunk with much speech. */
const read = { seconds: 1, step: 4, most: 30 };

type Spoken = Segment & { readonly speechFrames: number };

export const isComparable = (
  { speechFrames }: Pick<Spoken, 'speechFrames'>,
  { minUtteranceSeconds }: SeveralSpeakersParams,
  framesPerSecond: number,
): boolean => speechFrames >= minUtteranceSeconds * framesPerSecond;

/** @returns frames of an utterance for each window; null when the utterances of a whole recording cannot be of two voices */
export function stepOf(
  utterances: readonly Spoken[],
  isWhole: boolean,
  params: SeveralSpeakersParams,
  framesPerSecond: number,
): number | null {
  const counted = utterances.filter((utterance) => isComparable(utterance, params, framesPerSecond));
  const seconds = countFrames(counted) / framesPerSecond;
  if (isWhole && (counted.length < 2 || seconds < 2 * params.minSeconds)) return null;
  return Math.max(read.step, seconds / read.most) * framesPerSecond;
}

/**
 * Voices of windows of an utterance, each of which is read alone.
 * @param start of the frames that were encoded
 * @param framesPerSecond of the utterance
 */
export async function readWindows(
  { frames, embeddings }: Pick<Encoded, 'embeddings'> & VoiceFrames,
  utterance: Spoken,
  { start, step, framesPerSecond }: { start: number; step: number; framesPerSecond: number },
  { framesPerEmbedding }: SeveralSpeakersParams,
  session: Session,
): Promise<ChunkVoice[]> {
  const { data, shape } = frames ?? embeddings;
  const [, count, width] = shape as [number, number, number];
  const length = utterance.end - utterance.start;
  const windows = Math.max(1, Math.round(length / step));
  const half = Math.min(read.seconds * framesPerSecond, length) / 2;
  const seconds = utterance.speechFrames / framesPerSecond / windows;
  const voices: ChunkVoice[] = [];
  for (let window = 0; window < windows; window++) {
    const middle = utterance.start + ((window + 0.5) / windows) * length - start;
    const span = { start: middle - half, end: middle + half };
    const { start: from, end: to } = rowsOf(span, framesPerEmbedding, count);
    const { voice } = await session.run({
      [frames ? 'frames' : 'tokens']: {
        data: data.subarray(from * width, to * width),
        shape: [1, to - from, width],
      },
      weights: { data: new Float32Array(to - from).fill(1), shape: [1, to - from] },
    });
    voices.push({ vector: (voice as Values).data.slice(), seconds });
  }
  return voices;
}

/** How near two voices are, as a cosine; null where one of them has too little speech. */
export function similarityOfTwo(
  windows: readonly ChunkVoice[],
  { minSeconds, minShare }: SeveralSpeakersParams,
): number | null {
  if (windows.length < 2) return null;
  const { voices } = clusterVoices(windows, 2);
  const total = voices.reduce((sum, { seconds }) => sum + seconds, 0);
  const least = Math.max(minSeconds, minShare * total);
  if (voices.length < 2 || voices.some(({ seconds }) => seconds < least)) return null;
  return largestSimilarity(voices.map(({ vector }) => vector));
}
