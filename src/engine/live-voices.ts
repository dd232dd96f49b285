/** Voices of a stream: an utterance that has ended -> its parts and their voices, by all parts before. */
import { marginOf, type Vector } from './clustering.ts';
import type { Execution } from './execution.ts';
import type { DetectedSpeech } from './speech.ts';
import type { Utterance } from './utterances.ts';
import {
  type ChunkVoice,
  clustered,
  clusterVoices,
  countVoices,
  cutUtterance,
  follow,
  maxVoices,
  openVoices,
  type Reader,
  type SpeakerMode,
  type Track,
  type VoiceParams,
  type VoicePart,
  voiceModelOf,
} from './voices.ts';

/** A part of the stream, or several of one voice. `voice`: from 0, in the order in which voices are found. `end`: of the last, in frames. */
export type KnownPart = ChunkVoice & { readonly voice: number; readonly end: number };

/** 100 parts are some 80 kB. Of more, the oldest two of the voice with the most parts become one. */
const maxKnown = 100;

/** With a given number of speakers two clusters are two voices below this cosine, and from this much speech of each. */
const ofNumber = { maxSimilarity: 0.75, minSeconds: 2 };

type Followed = {
  /** Of each utterance, in order. */
  readonly parts: readonly (readonly VoicePart[])[];
  readonly known: readonly KnownPart[];
};

/**
 * A new voice needs some speech to be found: until then its parts have the number of another one. A given number of speakers is the
 * most voices that are found.
 * @param before parts of the utterances before
 * @param offset of the frames of `speech` in the stream
 */
export async function followVoices(
  utterances: readonly Utterance[],
  before: readonly KnownPart[],
  mode: SpeakerMode,
  { speech, offset }: { readonly speech: DetectedSpeech; readonly offset: number },
  { models, execution }: { readonly models: Reader; readonly execution: Execution },
): Promise<Followed> {
  if (utterances.length === 0) return { parts: [], known: before };
  const { params } = voiceModelOf(models).manifest;
  const open = await openVoices(speech, models);
  const parts: VoicePart[][] = [];
  let known = before;
  for (const utterance of utterances) {
    const frames = await open(utterance);
    const track = await follow(utterance, speech.framesPerSecond, frames);
    const cut = cutUtterance(utterance, track, centroidsWith(known, track, mode), params, speech);
    const added: Omit<KnownPart, 'voice'>[] = [];
    for (const part of cut) {
      const [vector] = cut.length === 1 ? [track.whole] : await frames.read(part.window, [part]);
      const seconds = part.speechFrames / speech.framesPerSecond;
      added.push({ vector: vector as Vector, seconds, end: part.end + offset });
    }
    frames.release();
    const next = await addParts(known, added, mode, params);
    known = next.known;
    const withVoices = cut.map(({ label: _, ...part }, index) => ({
      ...part,
      voice: next.voices[index] as number | null,
    }));
    parts.push(joinEqual(withVoices));
    execution.endStage('voices');
    await execution.yieldToOthers();
  }
  return { parts, known };
}

const mostOf = (mode: SpeakerMode) => (mode === 'auto' ? maxVoices : Number(mode));

/** Of the parts so far, and of windows of an utterance, in which one more voice may speak. The first utterance is not cut. */
function centroidsWith(known: readonly KnownPart[], track: Track, mode: SpeakerMode): readonly Vector[] {
  const windows = track.clustered.map(({ vector }) => ({ vector, seconds: clustered.step }));
  const count = 1 + new Set(known.map(({ voice }) => voice)).size;
  const { voices } = clusterVoices([...known, ...windows], Math.min(count, mostOf(mode)));
  return voices.map(({ vector }) => vector);
}

/**
 * Clusters all parts again; a voice keeps the number that most of its speech had.
 * @returns `voices`: of `added`; null for a part that may be of several
 */
export async function addParts(
  before: readonly KnownPart[],
  added: readonly Omit<KnownPart, 'voice'>[],
  mode: SpeakerMode,
  params: Pick<VoiceParams, 'minMargin' | 'two' | 'more'>,
): Promise<{ readonly voices: readonly (number | null)[]; readonly known: readonly KnownPart[] }> {
  const parts = [...before, ...added];
  const divide = async (count: number) => clusterVoices(parts, count);
  const limits = mode === 'auto' ? params : { two: ofNumber, more: ofNumber };
  const { voices, labels } = await countVoices(divide, limits, mostOf(mode));
  const centroids = voices.map(({ vector }) => vector);
  const numbers = numbersOf(before, labels, voices.length);
  const known = parts.map((part, index) => ({ ...part, voice: numbers[labels[index] as number] as number }));
  return {
    voices: known.slice(before.length).map(({ vector, voice }, index) => {
      const label = labels[before.length + index] as number;
      return marginOf(vector, label, centroids) < params.minMargin ? null : voice;
    }),
    known: withinLimit(known),
  };
}

/** @returns the number of each label: pairs that share most speech first, others the next free numbers */
function numbersOf(known: readonly KnownPart[], labels: readonly number[], count: number): number[] {
  const shared = new Map<string, { label: number; voice: number; seconds: number }>();
  for (const [index, { voice, seconds }] of known.entries()) {
    const label = labels[index] as number;
    const key = `${label} ${voice}`;
    shared.set(key, { label, voice, seconds: seconds + (shared.get(key)?.seconds ?? 0) });
  }
  const numbers = new Array<number>(count).fill(-1);
  for (const { label, voice } of [...shared.values()].sort((one, other) => other.seconds - one.seconds))
    if (numbers[label] === -1 && !numbers.includes(voice)) numbers[label] = voice;
  for (const [label, number] of numbers.entries())
    if (number === -1) numbers[label] = numbers.findIndex((_, free) => !numbers.includes(free));
  return numbers;
}

function withinLimit(parts: readonly KnownPart[]): readonly KnownPart[] {
  let kept = parts;
  while (kept.length > maxKnown) {
    const ofVoice = [...new Set(kept.map(({ voice }) => voice))].map((voice) =>
      kept.filter((part) => part.voice === voice),
    );
    const [first, second] = ofVoice.reduce((most, one) => (one.length > most.length ? one : most));
    const pair = [first as KnownPart, second as KnownPart];
    const [joined] = clusterVoices(pair, 1).voices;
    const others = kept.filter((part) => !pair.includes(part));
    kept = [{ ...(second as KnownPart), ...(joined as ChunkVoice) }, ...others];
  }
  return kept;
}

/** Neighbours of one voice are one part. */
function joinEqual(parts: readonly VoicePart[]): VoicePart[] {
  const joined: VoicePart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last === undefined || last.voice !== part.voice) {
      joined.push(part);
      continue;
    }
    const window = { start: last.window.start, end: part.window.end };
    const speechFrames = last.speechFrames + part.speechFrames;
    joined[joined.length - 1] = { ...part, start: last.start, window, speechFrames };
  }
  return joined;
}
