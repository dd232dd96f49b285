/** The quality of a recording from that of its chunks. */
import type { SignalQuality } from '../audio/addon.ts';

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
    snrDb:
      withNoise.length === 0
        ? null
        : Math.min(maxSnrDb, Math.max(0, decibels((noisySpeechPower - noisePower) / noisePower))),
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
