/** The quality of a recording from that of its chunks, and of an utterance from its frames. */
import type { FeatureSpec, SignalQuality } from './platform.ts';
import type { Segment } from './segments.ts';
import type { DetectedSpeech } from './speech.ts';
import type { Rows } from './utterances.ts';

const maxSnrDb = 60;
const silentDbfs = -100;

/**
 * Mean powers of speech and noise, and mean bandwidth, weighted by seconds of speech.
 * The noise ignores chunks whose `snrDb` is null.
 */
export function joinQualities(
  chunks: readonly { readonly quality: SignalQuality; readonly speechSeconds: number }[],
): SignalQuality {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first.quality;
  const spoken = chunks.filter(({ speechSeconds }) => speechSeconds > 0);
  const withNoise = spoken.filter(({ quality }) => quality.snrDb !== null);
  const speechPower = meanBySpeech(spoken, ({ quality }) => powerOf(quality.levelDbfs));
  const noisySpeechPower = meanBySpeech(withNoise, ({ quality }) => powerOf(quality.levelDbfs));
  const noisePower = meanBySpeech(
    withNoise,
    ({ quality }) => powerOf(quality.levelDbfs) / (1 + powerOf(quality.snrDb ?? 0)),
  );
  return {
    levelDbfs: decibels(speechPower),
    snrDb: withNoise.length === 0 ? null : snrOf(noisySpeechPower, noisePower),
    bandwidthHz: meanBySpeech(spoken, ({ quality }) => quality.bandwidthHz),
  };
}

/** RMS level of a recording from that of its chunks. */
export function meanLevel(
  chunks: readonly { readonly frames: number; readonly levelDbfs: number }[],
): number {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first.levelDbfs;
  const frames = chunks.reduce((sum, chunk) => sum + chunk.frames, 0);
  const power = chunks.reduce((sum, chunk) => sum + chunk.frames * powerOf(chunk.levelDbfs), 0);
  return decibels(power / Math.max(1, frames));
}

/** Mean weighted by seconds of speech; 0 without speech. The mean of one chunk is its value, to the bit. */
export function meanBySpeech<Chunk extends { readonly speechSeconds: number }>(
  chunks: readonly Chunk[],
  value: (chunk: Chunk) => number,
): number {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first.speechSeconds > 0 ? value(first) : 0;
  const total = chunks.reduce((sum, { speechSeconds }) => sum + speechSeconds, 0);
  const sum = chunks.reduce((all, chunk) => all + chunk.speechSeconds * value(chunk), 0);
  return total > 0 ? sum / total : 0;
}

function powerOf(decibel: number): number {
  return 10 ** (decibel / 10);
}

function decibels(power: number): number {
  return power > 0 ? Math.max(silentDbfs, 10 * Math.log10(power)) : silentDbfs;
}

/** Quality of an utterance, from its frames and the noise up to its end. */
export type SpeechQuality = Pick<SignalQuality, 'bandwidthHz'> & {
  readonly snrDb: number;
  /** Share of samples at full scale. */
  readonly clippedRatio: number;
};

/** Sum of the powers of frames without speech. */
export type NoiseLevel = { readonly power: number; readonly frames: number };
export const noNoise: NoiseLevel = { power: 0, frames: 0 };

/** Next to speech, excluded from noise: onsets and tails. */
const collarSeconds = 0.1;
const minNoiseSeconds = 0.3;
/** Of the powers of an utterance's frames, taken as noise while there is too little. */
const quietQuantile = 0.1;
/** Mean power of steady noise over its quantile. */
const quietBias = 1.07;
/** Power of what counts as no sound. */
export const digitalSilence = 1e-10;
/** Bands further below the loudest one hold no speech. */
const bandwidthDb = 60;
/** Evenly spread over an utterance. */
const maxSpectra = 40;

/**
 * Whether the noise of the pauses is not in the file: encoders that send nothing in pauses (DTX) leave gaps there. Without
 * them the pauses would be long enough to measure it.
 * @param gaps in frames
 */
export function lacksNoise(
  gaps: readonly Segment[],
  { segments, power, framesPerSecond }: Pick<DetectedSpeech, 'segments' | 'power' | 'framesPerSecond'>,
): boolean {
  if (gaps.length === 0) return false;
  const collar = collarSeconds * framesPerSecond;
  const isNoise = new Uint8Array(power.length).fill(1);
  for (const { start, end } of segments) isNoise.fill(0, Math.max(0, start - collar), end + collar);
  const seconds = () => isNoise.reduce((sum, value) => sum + value, 0) / framesPerSecond;
  const before = seconds();
  for (const { start, end } of gaps) isNoise.fill(0, Math.max(0, start), Math.max(0, end));
  return before >= minNoiseSeconds && seconds() < minNoiseSeconds;
}

export type QualityMeter = ReturnType<typeof createQualityMeter>;

/** As `measureQuality` of the addon, of the frames so far. @param before noise before the frames */
export function createQualityMeter(
  { power, clipped, segments, framesPerSecond }: DetectedSpeech,
  before: NoiseLevel,
  spec: FeatureSpec,
) {
  const collar = collarSeconds * framesPerSecond;
  let noise = before;
  let [from, next] = [0, 0];

  function add(value: number): void {
    if (value > digitalSilence) noise = { power: noise.power + value, frames: noise.frames + 1 };
  }

  /** Frames before the segments that start before `end`. */
  function addNoise(end: number): void {
    for (; next < segments.length && (segments[next] as Segment).start < end; next++) {
      const segment = segments[next] as Segment;
      for (let frame = from; frame < segment.start - collar; frame++) add(power[frame] as number);
      from = Math.max(from, segment.end + collar);
    }
  }

  return {
    /** Utterances come in order. @param features of the frames that the trunk reads for it */
    measure({ start, end }: Segment, features: Rows): SpeechQuality {
      addNoise(end);
      const inside = power.subarray(start, end);
      const speechPower = mean(inside);
      const quiet = inside.filter((value) => value > digitalSilence).sort();
      const noisePower =
        noise.frames >= minNoiseSeconds * framesPerSecond
          ? noise.power / noise.frames
          : quietBias * (quiet[Math.floor(quietQuantile * quiet.length)] ?? 0);
      return {
        snrDb: snrOf(speechPower, noisePower),
        bandwidthHz: bandwidthOf(features, spec),
        clippedRatio: mean(clipped.subarray(start, end)) / spec.hopLength,
      };
    },
    /** Of all frames, or of those before `end`; after the last utterance. */
    noise(end = power.length): NoiseLevel {
      addNoise(end);
      for (; from < end - collar; from++) add(power[from] as number);
      return noise;
    },
  };
}

function mean(values: Float32Array): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** @param speechPower includes the noise */
function snrOf(speechPower: number, noisePower: number): number {
  if (noisePower <= 0) return speechPower > 0 ? maxSnrDb : 0;
  return Math.min(maxSnrDb, Math.max(0, decibels((speechPower - noisePower) / noisePower)));
}

function bandwidthOf({ data, bins }: Rows, spec: FeatureSpec): number {
  const density = new Float64Array(bins);
  const frames = data.length / bins;
  const step = Math.max(1, Math.floor(frames / maxSpectra));
  for (let frame = 0; frame < frames; frame += step) {
    for (let band = 0; band < bins; band++) {
      density[band] = (density[band] as number) + Math.exp(Math.LN10 * (data[frame * bins + band] as number));
    }
  }
  const threshold = Math.max(...density) * 10 ** (-bandwidthDb / 10);
  let band = bins - 1;
  while (band > 0 && (density[band] as number) < threshold) band--;
  return bandHz(band, spec);
}

/** Centre of a band of the Slaney mel scale: linear up to 1 kHz, then logarithmic. */
function bandHz(band: number, { nMels, lowHz, highHz }: FeatureSpec): number {
  const [edgeHz, edgeMel, logStep] = [1000, 15, Math.log(6.4) / 27];
  const toMel = (hertz: number) =>
    hertz < edgeHz ? (hertz * edgeMel) / edgeHz : edgeMel + Math.log(hertz / edgeHz) / logStep;
  const mel = toMel(lowHz) + ((toMel(highHz) - toMel(lowHz)) * (band + 1)) / (nMels + 1);
  return mel < edgeMel ? (mel * edgeHz) / edgeMel : edgeHz * Math.exp((mel - edgeMel) * logStep);
}
