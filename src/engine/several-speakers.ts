/** Whether a recording sounds like several speakers: windows of its utterances in two groups, and how near these are. */
import { z } from 'zod';
import { largestSimilarity } from './clustering.ts';
import type { Platform, Session, Values } from './platform.ts';
import { countFrames, type Segment } from './segments.ts';
import type { Encoded, VoiceFrames } from './utterances.ts';
import { apart, type ChunkVoice, clusterVoices, graphFile } from './voices.ts';

/** Of models before 4.0.0, whose warning is not raised any more. */
export const earlierParams = z
  .strictObject({
    weights: graphFile,
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
  weights: graphFile,
  /** Frames of one row of what the graph reads. */
  framesPerEmbedding: z.int().positive(),
  /** Shorter utterances do not count. */
  minUtteranceSeconds: z.number().positive(),
  ...apart.shape,
  /** Of the speech that counts, that of each voice. */
  minShare: z.number().min(0).max(1),
});
type SeveralSpeakersParams = z.infer<typeof severalSpeakersParams>;

/** One window is read per `step` seconds of an utterance, at least one. In a chunk with much speech they are further apart. */
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

/** What the network reads of a window of an utterance. */
export type VoiceWindow = {
  readonly data: Float32Array | Uint8Array;
  readonly rows: number;
  /** Whether `data` are the frames of the trunk, else its tokens. */
  readonly ofFrames: boolean;
  /** Of the speech that the window stands for. */
  readonly seconds: number;
};

/**
 * Copies of the windows of an utterance.
 * @param start of the frames that were encoded
 * @param framesPerSecond of the utterance
 */
export function windowsOf(
  { frames, embeddings }: Pick<Encoded, 'embeddings'> & VoiceFrames,
  utterance: Spoken,
  { start, step, framesPerSecond }: { start: number; step: number; framesPerSecond: number },
  { framesPerEmbedding }: SeveralSpeakersParams,
): VoiceWindow[] {
  const { data, shape } = frames ?? embeddings;
  const [, count, width] = shape as [number, number, number];
  const length = utterance.end - utterance.start;
  const windows = Math.max(1, Math.round(length / step));
  const rows = Math.round((read.seconds * framesPerSecond) / framesPerEmbedding);
  if (count < rows) return [];
  const seconds = utterance.speechFrames / framesPerSecond / windows;
  return Array.from({ length: windows }, (_, window) => {
    const middle = utterance.start + ((window + 0.5) / windows) * length - start;
    const first = Math.round(middle / framesPerEmbedding - rows / 2);
    const from = Math.min(Math.max(0, first), count - rows) * width;
    return { data: data.slice(from, from + rows * width), rows, ofFrames: frames !== null, seconds };
  });
}

/** The voice of each window, whose data it releases. The network reads up to `read.most` at once. */
export async function readWindows(
  windows: readonly VoiceWindow[],
  session: Session,
  platform: Pick<Platform, 'release'>,
): Promise<ChunkVoice[]> {
  const voices: ChunkVoice[] = [];
  for (let start = 0; start < windows.length; start += read.most)
    voices.push(...(await readBatch(windows.slice(start, start + read.most), session, platform)));
  return voices;
}

async function readBatch(
  windows: readonly VoiceWindow[],
  session: Session,
  { release }: Pick<Platform, 'release'>,
): Promise<ChunkVoice[]> {
  const { data, rows, ofFrames } = windows[0] as VoiceWindow;
  const { length } = data;
  const count = windows.length * length;
  const all = data instanceof Uint8Array ? new Uint8Array(count) : new Float32Array(count);
  for (const [index, window] of windows.entries()) {
    all.set(window.data, index * length);
    release(window.data);
  }
  const { voice } = await session.run({
    [ofFrames ? 'frames' : 'tokens']: { data: all, shape: [windows.length, rows, length / rows] },
  });
  release(all);
  const { data: values } = voice as Values;
  const size = values.length / windows.length;
  return windows.map(({ seconds }, index) => ({
    vector: values.slice(index * size, (index + 1) * size),
    seconds,
  }));
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
