/** Bytes -> samples -> features -> speech activity -> segments. */
import type { AnalyzeRequest } from './analysis.ts';
import {
  type Audio,
  type DecodeLimits,
  decode,
  extract,
  type Features,
  isAudioError,
  trackVoice,
} from './audio.ts';
import { Failure, invalidPart, type ValidationType } from './errors.ts';
import type { Models } from './models/registry.ts';
import type { Values } from './models/session.ts';
import { measureTiming } from './signals/measures.ts';
import { countFrames, findSegments, meanOver, type Segment } from './signals/segments.ts';
import { type Speaker, speechCepstrum } from './signals/speaker.ts';
import { measureVoice } from './signals/voice.ts';
import { stoppedMessage, type Watch } from './watch.ts';

/** Less speech than this is not judged. */
export const minSpeechSeconds = 0.5;

/** As much of an Audio as can be heard: the whole of it, or a piece. */
export type Sounding = Pick<Audio, 'samples' | 'sampleRate'>;

export type Heard<Sound extends Sounding = Audio> = {
  readonly audio: Sound;
  readonly features: Features;
  readonly speech: Float32Array;
  readonly syllableRate: Float32Array;
  /** Mean log odds, over the segments, that they are speech and no other sound; 0 without any. */
  readonly voice: number;
  readonly segments: readonly Segment[];
  readonly framesPerSecond: number;
  readonly speechSeconds: number;
};

/** Decode, features and speech activity of one part of the upload. */
export async function hear(
  part: 'audio' | 'baseline',
  bytes: Uint8Array,
  { channel, cancel }: AnalyzeRequest,
  models: Models,
  limits: DecodeLimits,
  watch: Watch,
): Promise<Heard> {
  const audio = decodePart(part, () =>
    decode(bytes, {
      sampleRate: models.features.sampleRate,
      channel: part === 'audio' ? channel : null,
      limits,
      cancel,
    }),
  );
  watch.mark('decode');
  return listen(audio, models, watch);
}

/** Features and speech activity of what was decoded. */
export async function listen<Sound extends Sounding>(
  audio: Sound,
  models: Models,
  watch: Watch,
): Promise<Heard<Sound>> {
  const spec = models.features;
  const features = extract(audio.samples, spec);
  watch.mark('features');
  const framesPerSecond = spec.sampleRate / spec.hop;
  if (features.frames === 0) {
    const none = new Float32Array(0);
    return {
      audio,
      features,
      speech: none,
      syllableRate: none,
      voice: 0,
      segments: [],
      framesPerSecond,
      speechSeconds: 0,
    };
  }
  const outputs = await models.activity.session.run({
    features: { data: features.data, shape: [1, features.frames, features.bins] },
  });
  const speech = outputs.speech as Values;
  const syllableRate = outputs.syllable_rate as Values;
  const segments = findSegments(speech.data, framesPerSecond, models.activity.manifest.rule);
  watch.mark('activity');
  return {
    audio,
    features,
    speech: speech.data,
    syllableRate: syllableRate.data,
    voice: meanOver(segments, (outputs.voice as Values).data),
    segments,
    framesPerSecond,
    speechSeconds: countFrames(segments) / framesPerSecond,
  };
}

/** What the decoder says of a recording, as a failure of the upload's part. */
export function decodePart<Result>(part: 'audio' | 'baseline', work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!isAudioError(error)) throw error;
    switch (error.code) {
      case 'deadline':
      case 'cancelled':
        throw new Failure('deadline', stoppedMessage);
      case 'bad_argument':
      case 'internal':
        throw error;
      case 'channel':
        throw invalidPart('channel', 'value_error.audio.channel', error.reason);
      default: {
        const type: ValidationType = `value_error.audio.${error.code}`;
        throw invalidPart(part, type, error.reason);
      }
    }
  }
}

/** @throws Failure at the part `baseline` when it holds too little speech */
export async function measureBaseline(
  bytes: Uint8Array,
  request: AnalyzeRequest,
  models: Models,
  limits: DecodeLimits,
  watch: Watch,
): Promise<Speaker> {
  const heard = await hear('baseline', bytes, request, models, limits, watch);
  if (heard.speechSeconds < minSpeechSeconds) {
    const got = `${heard.speechSeconds.toFixed(2)} s`;
    throw invalidPart(
      'baseline',
      'value_error.audio.insufficient_speech',
      `Expected at least ${minSpeechSeconds} s of speech for \`baseline\`, got ${got}`,
    );
  }
  return describeSpeaker(heard, watch);
}

/** All measures of the speech, and what tells one voice from another. */
export function describeSpeaker(heard: Heard<Sounding>, watch: Watch): Speaker {
  const { segments, framesPerSecond, speechSeconds, features, audio } = heard;
  const voice = trackVoice(audio.samples, audio.sampleRate);
  const speaker = {
    measures: { ...measureTiming(heard), ...measureVoice(voice, segments, framesPerSecond) },
    speechSeconds,
    cepstrum: speechCepstrum(features, segments),
  };
  watch.mark('measures');
  return speaker;
}

/** Start and end of each segment in seconds, flat. */
export function segmentSeconds({
  segments,
  framesPerSecond,
}: Pick<Heard, 'segments' | 'framesPerSecond'>): Float64Array {
  return Float64Array.from(
    segments.flatMap(({ start, end }) => [start / framesPerSecond, end / framesPerSecond]),
  );
}
