/** Samples -> features -> speech probability per frame -> segments of speech. */
import { type Audio, extract, type Features } from '../audio/addon.ts';
import type { Models } from '../models/loader.ts';
import type { Values } from '../models/session.ts';
import { countFrames, findSegments, meanOver, type Segment } from './segments.ts';
import type { StageTimer } from './stage-timer.ts';

/** Mono samples of a recording or a chunk. */
type AudioBuffer = Pick<Audio, 'samples' | 'sampleRate'>;

export type SpeechAnalysis = {
  readonly audio: AudioBuffer;
  readonly features: Features;
  /** Speech probability per frame, 0 to 1. */
  readonly speechProbability: Float32Array;
  /** Syllables per second, one value per frame. */
  readonly syllableRate: Float32Array;
  /** Mean log odds over the segments that they are speech and no other sound; 0 without segments. */
  readonly voiceLogOdds: number;
  readonly segments: readonly Segment[];
  readonly framesPerSecond: number;
  readonly speechSeconds: number;
};

export async function detectSpeech(
  audio: AudioBuffer,
  models: Models,
  timer: StageTimer,
): Promise<SpeechAnalysis> {
  const spec = models.features;
  const features = extract(audio.samples, spec);
  timer.mark('features');
  const framesPerSecond = spec.sampleRate / spec.hopLength;
  if (features.frames === 0) return noSpeech(audio, features, framesPerSecond);
  const outputs = await models.vad.session.run({
    features: { data: features.data, shape: [1, features.frames, features.bins] },
  });
  const speech = outputs.speech as Values;
  const syllableRate = outputs.syllable_rate as Values;
  const segments = findSegments(speech.data, framesPerSecond, models.vad.manifest.params);
  timer.mark('vad');
  return {
    audio,
    features,
    speechProbability: speech.data,
    syllableRate: syllableRate.data,
    voiceLogOdds: meanOver(segments, (outputs.voice as Values).data),
    segments,
    framesPerSecond,
    speechSeconds: countFrames(segments) / framesPerSecond,
  };
}

function noSpeech(audio: AudioBuffer, features: Features, framesPerSecond: number): SpeechAnalysis {
  const none = new Float32Array(0);
  return {
    audio,
    features,
    speechProbability: none,
    syllableRate: none,
    voiceLogOdds: 0,
    segments: [],
    framesPerSecond,
    speechSeconds: 0,
  };
}

/** Keeps `segments` as the only speech. */
export function onlySpeech(speech: SpeechAnalysis, segments: readonly Segment[]): SpeechAnalysis {
  return { ...speech, segments, speechSeconds: countFrames(segments) / speech.framesPerSecond };
}

/** Keeps the frames before `end`. */
export function truncateSpeech(speech: SpeechAnalysis, end: number, hop: number): SpeechAnalysis {
  const { audio, features, framesPerSecond } = speech;
  const segments = speech.segments.filter(({ start }) => start < end);
  return {
    ...speech,
    audio: { ...audio, samples: audio.samples.subarray(0, end * hop) },
    features: { ...features, data: features.data.subarray(0, end * features.bins), frames: end },
    segments,
    speechProbability: speech.speechProbability.subarray(0, end),
    syllableRate: speech.syllableRate.subarray(0, end),
    speechSeconds: countFrames(segments) / framesPerSecond,
  };
}

/** Start and end of each segment in seconds, flat. */
export function segmentSeconds({
  segments,
  framesPerSecond,
}: Pick<SpeechAnalysis, 'segments' | 'framesPerSecond'>): Float64Array {
  return Float64Array.from(
    segments.flatMap(({ start, end }) => [start / framesPerSecond, end / framesPerSecond]),
  );
}
