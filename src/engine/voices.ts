/**
 * Voices on one channel: the utterances of a chunk, cut where the voice changes, and the voice of each part. Windows of a
 * second are clustered; steps of a tenth of a second then say where the voice changes (Viterbi).
 */
import { z } from 'zod';
import {
  centroidsOf,
  decodeSequence,
  kMeans,
  largestSimilarity,
  marginOf,
  type Vector,
  withoutGaps,
} from './clustering.ts';
import type { Execution } from './execution.ts';
import {
  EngineError,
  type FeatureSpec,
  type Platform,
  type Session,
  type Tensor,
  type Values,
} from './platform.ts';
import { clipSegments, countFrames, type Segment } from './segments.ts';
import type { DetectedSpeech } from './speech.ts';
import { framesOf, minSeconds, type SpeechWindow, type Utterance } from './utterances.ts';

/** Voices on one channel that are separated: so many, or as many as are found, at most `maxVoices`. */
export const speakerModes = ['auto', '2', '3', '4', '5', '6'] as const;
export type SpeakerMode = (typeof speakerModes)[number];
/** As messages name them. */
export const speakerModesText = '2 to 6 or auto';
export const maxVoices = 6;

/** A graph of a model, inside its folder. */
export const graphFile = z.strictObject({
  file: z.string().regex(/^\w[\w.-]*\.onnx$/),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** How two voices differ. */
export const apart = z.strictObject({
  /** Voices are nearer to each other, as a cosine. */
  maxSimilarity: z.number(),
  /** Speech of each voice. */
  minSeconds: z.number().nonnegative(),
});

export const voiceParams = z.strictObject({
  /** Frames of 10 ms of one row that `base` returns. */
  framesPerEmbedding: z.int().positive(),
  /** An utterance that is nearer to its voice than to another one by less, as a difference of cosines, is of none. */
  minMargin: z.number().nonnegative(),
  /** Of a change of the voice, in cosines of steps. */
  changeCost: z.number().nonnegative(),
  /** Where `auto` finds a second voice, and more of them. */
  two: apart,
  more: apart,
  /** Graph of filterbanks -> frames, which the graph of the manifest's `weights` reads. */
  base: graphFile,
});
export type VoiceParams = z.infer<typeof voiceParams>;

/** `base`: filterbanks of an utterance -> frames; `rest`: frames of a span, read alone -> voices of windows of it. */
export type VoiceSessions = { readonly base: Session; readonly rest: Session };

/** It is opened when it is first needed. */
export type VoiceModel = {
  readonly manifest: { readonly params: VoiceParams };
  /** Without `highpassHz`, which is in the filter of the models. */
  readonly features: FeatureSpec;
  /** @throws ModelError */
  readonly load: () => Promise<VoiceSessions>;
};

export const noVoiceMessage =
  'Expected models with a voice model for `speakers`, got none: copy the folder voice of models/standard into the folder of models';

/** @throws EngineError when the set has none */
export function voiceModelOf({ voice }: { readonly voice: VoiceModel | null }): VoiceModel {
  if (voice !== null) return voice;
  throw new EngineError('speakers', 'speakers', noVoiceMessage);
}

/** What reads voices: a set with a voice model, and the platform. */
export type Reader = {
  readonly voice: VoiceModel | null;
  readonly platform: Pick<Platform, 'extract' | 'temporalCentroid' | 'release'>;
};

/** Windows that are clustered, and those that are followed through an utterance: length and step. */
export const clustered = { seconds: 1, step: 0.5 };
const followed = { seconds: 0.7, step: 0.1 };

/** A voice of a chunk. */
export type ChunkVoice = { readonly vector: Vector; readonly seconds: number };

/** `voice`: index in the voices of the chunk, or of the stream; null: may be of several. */
export type VoicePart = Utterance & { readonly voice: number | null };

export type Separated = {
  readonly voices: readonly ChunkVoice[];
  /** Of each utterance, in order: one part when the voice does not change. */
  readonly parts: readonly (readonly VoicePart[])[];
};

/** Windows of an utterance, in frames, with their vectors. */
export type Track = {
  readonly clustered: readonly Window[];
  readonly followed: readonly Window[];
  readonly whole: Vector;
};
type Window = Segment & { readonly vector: Vector };

/** @param mode a number of voices: of the recording, which is the chunk */
export async function separateVoices(
  utterances: readonly Utterance[],
  mode: SpeakerMode,
  speech: DetectedSpeech,
  reader: Reader,
  execution: Execution,
): Promise<Separated> {
  const { params } = voiceModelOf(reader).manifest;
  const open = await openVoices(speech, reader);
  const tracked: { readonly frames: UtteranceReader; readonly track: Track }[] = [];
  for (const utterance of utterances) {
    const frames = await open(utterance);
    tracked.push({ frames, track: await follow(utterance, speech.framesPerSecond, frames) });
    execution.endStage('voices');
    await execution.yieldToOthers();
  }
  /** Vectors of parts, by their bounds. */
  const known = new Map<string, Vector>();
  const vectorOf = async (part: Utterance, { read }: UtteranceReader): Promise<Vector> => {
    const key = `${part.start}-${part.end}`;
    const vector = known.get(key) ?? ((await read(part.window, [part]))[0] as Vector);
    known.set(key, vector);
    return vector;
  };

  /** Clusters the windows and cuts the utterances; the voices are those of the parts, which no other voice is in. */
  async function divide(count: number): Promise<Separated> {
    const windows = tracked.flatMap(({ track }) => track.clustered);
    const lengths = windows.map(({ start, end }) => end - start);
    const { centroids } = kMeans(
      windows.map(({ vector }) => vector),
      lengths,
      count,
    );
    await execution.yieldToOthers();
    const cut: (Utterance & { readonly label: number; readonly vector: Vector })[][] = [];
    for (const [index, utterance] of utterances.entries()) {
      const { frames, track } = tracked[index] as (typeof tracked)[number];
      const parts = cutUtterance(utterance, track, centroids, params, speech);
      cut.push([]);
      for (const part of parts) {
        const vector = parts.length === 1 ? track.whole : await vectorOf(part, frames);
        cut.at(-1)?.push({ ...part, vector });
      }
      execution.endStage('voices');
      await execution.yieldToOthers();
    }
    const all = cut.flat();
    const labels = withoutGaps(all.map(({ label }) => label));
    const weights = all.map(({ speechFrames }) => speechFrames);
    const vectors = centroidsOf(
      all.map(({ vector }) => vector),
      weights,
      labels,
    );
    const seconds = weights.map((frames) => frames / speech.framesPerSecond);
    let index = 0;
    const parts = cut.map((ofUtterance) =>
      ofUtterance.map(({ vector, label: _, ...part }) => {
        const voice = labels[index++] as number;
        return { ...part, voice: marginOf(vector, voice, vectors) < params.minMargin ? null : voice };
      }),
    );
    return { voices: voicesOf(vectors, seconds, labels), parts };
  }
  const separated = await (mode === 'auto' ? countVoices(divide, params) : divide(Number(mode)));
  for (const { frames } of tracked) frames.release();
  return separated;
}

/** @param seconds of each part or voice, whose voice `labels` has */
function voicesOf(
  vectors: readonly Vector[],
  seconds: readonly number[],
  labels: readonly number[],
): ChunkVoice[] {
  return vectors.map((vector, voice) => ({
    vector,
    seconds: seconds.reduce((total, one, index) => total + (labels[index] === voice ? one : 0), 0),
  }));
}

/** @returns at most `count` voices, and the voice of each part */
export function clusterVoices(
  parts: readonly ChunkVoice[],
  count: number,
): { readonly voices: readonly ChunkVoice[]; readonly labels: readonly number[] } {
  const seconds = parts.map((part) => part.seconds);
  const { centroids, labels } = kMeans(
    parts.map(({ vector }) => vector),
    seconds,
    count,
  );
  return { voices: voicesOf(centroids, seconds, labels), labels };
}

/** As many voices as are apart from each other, at most `most`. */
export async function countVoices<Found extends { readonly voices: readonly ChunkVoice[] }>(
  divide: (count: number) => Promise<Found>,
  params: Pick<VoiceParams, 'two' | 'more'>,
  most = maxVoices,
): Promise<Found> {
  let found = await divide(1);
  for (let count = 2; count <= most; count++) {
    const next = await divide(count);
    const { maxSimilarity, minSeconds } = count === 2 ? params.two : params.more;
    const similarity = largestSimilarity(next.voices.map(({ vector }) => vector));
    const isApart = similarity < maxSimilarity && next.voices.every(({ seconds }) => seconds >= minSeconds);
    if (next.voices.length < count || !isApart) break;
    found = next;
  }
  return found;
}

/**
 * Voices of a recording, from those of its chunks.
 * @returns the voice of the recording for each voice of each chunk
 */
export async function joinVoices(
  chunks: readonly (readonly ChunkVoice[])[],
  mode: SpeakerMode,
  params: VoiceParams,
  execution: Pick<Execution, 'yieldToOthers'>,
): Promise<readonly (readonly number[])[]> {
  const all = chunks.flat();
  if (chunks.length === 1 || all.length === 0) return chunks.map((voices) => voices.map((_, index) => index));
  const divide = async (count: number) => {
    const found = clusterVoices(all, count);
    await execution.yieldToOthers();
    return found;
  };
  const { labels } = await (mode === 'auto' ? countVoices(divide, params) : divide(Number(mode)));
  let first = 0;
  return chunks.map((voices) => {
    first += voices.length;
    return labels.slice(first - voices.length, first);
  });
}

/** Reads voices of an utterance from its frames, which the base has made of the whole. */
export type UtteranceReader = {
  /** Vectors of windows of a span, which is read alone. @throws ModelError */
  read(span: Segment, windows: readonly Segment[]): Promise<Vector[]>;
  release(): void;
};

/** @throws ModelError */
export async function openVoices(
  speech: DetectedSpeech,
  reader: Reader,
): Promise<(utterance: SpeechWindow) => Promise<UtteranceReader>> {
  const model = voiceModelOf(reader);
  const sessions = await model.load();
  return (utterance) => readUtterance(utterance, speech, { ...reader, model }, sessions);
}

export async function follow(
  utterance: Utterance,
  framesPerSecond: number,
  { read }: UtteranceReader,
): Promise<Track> {
  const windowsOf = ({ seconds, step }: typeof followed) =>
    spread(utterance, seconds * framesPerSecond, step * framesPerSecond);
  const [coarse, fine] = [windowsOf(clustered), windowsOf(followed)];
  const vectors = await read(utterance.window, [utterance, ...coarse, ...fine]);
  const withVectors = (windows: readonly Segment[], first: number) =>
    windows.map((window, index) => ({ ...window, vector: vectors[first + index] as Vector }));
  return {
    whole: vectors[0] as Vector,
    clustered: withVectors(coarse, 1),
    followed: withVectors(fine, 1 + coarse.length),
  };
}

/** Windows of a length at equal distances of at most `step`, from the start to the end; one of a shorter span. */
function spread({ start, end }: Segment, length: number, step: number): Segment[] {
  const room = end - start - length;
  if (room <= 0) return [{ start, end }];
  const steps = Math.ceil(room / step);
  return Array.from({ length: steps + 1 }, (_, index) => {
    const from = Math.round(start + (room * index) / steps);
    return { start: from, end: from + length };
  });
}

/** The rows of a span of frames: at least one of `count`. */
export function rowsOf({ start, end }: Segment, framesPerRow: number, count: number): Segment {
  const first = Math.max(0, Math.min(count - 1, Math.floor(start / framesPerRow)));
  return { start: first, end: Math.max(first + 1, Math.min(count, Math.floor(end / framesPerRow))) };
}

async function readUtterance(
  utterance: SpeechWindow,
  speech: DetectedSpeech,
  { platform, model: { manifest, features } }: Pick<Reader, 'platform'> & { readonly model: VoiceModel },
  { base, rest }: VoiceSessions,
): Promise<UtteranceReader> {
  const rows = framesOf(speech, [utterance], { features, filterbanks: null, readsSamples: false, platform });
  const shape = [1, rows.data.length / rows.bins, rows.bins];
  const { frames } = await base.run({ filterbanks: { data: rows.data, shape } });
  platform.release(rows.data);
  const { data, shape: size } = frames as Tensor;
  const [count, width] = size as readonly [number, number];
  const { framesPerEmbedding } = manifest.params;
  const rowsFrom = (origin: number, { start, end }: Segment, most: number) =>
    rowsOf({ start: start - origin, end: end - origin }, framesPerEmbedding, most);
  return {
    read: async (span, windows) => {
      const { start, end } = rowsFrom(rows.start, span, count);
      const origin = rows.start + start * framesPerEmbedding;
      const length = end - start;
      const weights = new Float32Array(windows.length * length);
      for (const [index, window] of windows.entries()) {
        const inside = rowsFrom(origin, window, length);
        weights.fill(1, index * length + inside.start, index * length + inside.end);
      }
      const outputs = await rest.run({
        frames: { data: data.subarray(start * width, end * width), shape: [length, width] },
        weights: { data: weights, shape: [windows.length, length] },
      });
      const voices = (outputs.voice as Values).data;
      const values = voices.length / windows.length;
      return windows.map((_, index) => voices.slice(index * values, (index + 1) * values));
    },
    release: () => platform.release(data),
  };
}

/** Parts of an utterance, each with the label of its centroid. A part has at least `minSeconds` of speech. */
export function cutUtterance(
  { start, end, window, cause, speechFrames }: Utterance,
  { followed: steps }: Track,
  centroids: readonly Vector[],
  { changeCost }: VoiceParams,
  { segments, framesPerSecond }: Pick<DetectedSpeech, 'segments' | 'framesPerSecond'>,
): (Utterance & { readonly label: number })[] {
  const labels = decodeSequence(
    steps.map(({ vector }) => vector),
    centroids,
    changeCost,
  );
  const middle = ({ start: from, end: to }: Segment) => (from + to) / 2;
  const speechIn = (part: Segment) => countFrames(clipSegments(segments, part));
  const isShort = (part: Segment) => speechIn(part) < minSeconds * framesPerSecond;
  const parts: (Segment & { readonly label: number })[] = [];
  for (const [index, label] of labels.entries()) {
    const [step, next] = [steps[index], steps[index + 1]];
    if (next !== undefined && label === labels[index + 1]) continue;
    const to = next === undefined ? end : Math.round((middle(step as Window) + middle(next)) / 2);
    const part = { start: parts.at(-1)?.end ?? start, end: to, label };
    const last = parts.at(-1);
    // A short first part joins the second, any other one the part before.
    if (last === undefined) parts.push(part);
    else if (isShort(part) || last.label === label) parts[parts.length - 1] = { ...last, end: to };
    else if (isShort(last)) parts[parts.length - 1] = { ...part, start: last.start };
    else parts.push(part);
  }
  return parts.map((part, index) => ({
    ...part,
    window: {
      start: index === 0 ? window.start : part.start,
      end: part.end === end ? window.end : part.end,
    },
    speechFrames: parts.length === 1 ? speechFrames : speechIn(part),
    cause: part.end === end ? cause : 'length',
  }));
}
