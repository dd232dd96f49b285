/** Long, poor and two-channel recordings of speech. */

import { wavFile } from '../../benchmarks/upload-body.ts';
import { joinArrays } from '../../src/engine/arrays.ts';
import { samplesOf, speech } from './analysis.ts';

/** Speech over and over. */
export function lecture(seconds: number): Buffer {
  const speech = samplesOf('speech.wav');
  const samples = new Float32Array(seconds * 16_000);
  for (let at = 0; at < samples.length; at += speech.length + 8000) {
    samples.set(speech.subarray(0, samples.length - at), at);
  }
  return wavFile(samples);
}

/** Utterances of 1.2 to 2 s with pauses between them, in another voice now and then. */
export function callOf(utterances: number): Buffer {
  const speech = samplesOf('speech.wav');
  const parts = Array.from({ length: utterances }, (_, index) => {
    const speed = [1, 1.3, 0.85][index % 3] as number;
    const length = 19_200 + 12_800 * ((index * 7) % 5) * 0.25;
    const from = 4800 + ((index * 12_345) % 32_000);
    return Array.from({ length: length + 19_200 }, (_, at) =>
      at < length ? (speech[from + Math.round(speed * at)] ?? 0) : 0,
    );
  });
  return wavFile(Float32Array.from(parts.flat()));
}

/** The WAV file played `factor` times as fast: another voice. */
export function fast(wav: Buffer, factor: number): Buffer {
  const played = Buffer.from(wav);
  for (const at of [24, 28]) played.writeUInt32LE(2 * Math.round((factor * wav.readUInt32LE(at)) / 2), at);
  return played;
}

/** A sentence without the silence at its ends. */
export function sentence(name: string): Float32Array {
  const samples = speech(name);
  const isLoud = (value: number) => Math.abs(value) > 0.02;
  return samples.subarray(samples.findIndex(isLoud), samples.findLastIndex(isLoud));
}

export type Turn = { readonly voice: string; readonly start: number; readonly end: number };

/** Five sentences of each voice in turns on one channel. @param gapSeconds before each and after the last */
export function talk(voices: readonly string[], gapSeconds: number) {
  const gap = new Float32Array(Math.round(gapSeconds * 16_000));
  const turns: Turn[] = [];
  let at = gap.length;
  const parts = [1, 2, 3, 4, 5].flatMap((sentence) =>
    voices.flatMap((voice) => {
      const samples = speech(`${voice}-${sentence}`);
      turns.push({ voice, start: at / 16_000, end: (at + samples.length) / 16_000 });
      at += samples.length + gap.length;
      return [samples, gap];
    }),
  );
  return { samples: joinArrays([gap, ...parts]), turns };
}

/**
 * A call of which examples/call.ogg is made: the customer on channel 0, the agent on channel 1. After the customer's fourth sentence
 * comes one that is faster and higher.
 */
export function call(): Buffer {
  const silence = new Float32Array(9600);
  const parts = [1, 2, 3, 4, 5].flatMap((sentence) => [
    { channel: 1, samples: spoken(`low-${sentence}`, 1) },
    { channel: 0, samples: spoken(`high-${sentence}`, 1) },
    ...(sentence === 4 ? [{ channel: 0, samples: spoken('en-us+f5-175', 1.4) }] : []),
  ]);
  const onChannel = (channel: number) =>
    joinArrays(
      parts.flatMap((part) => [
        part.channel === channel ? part.samples : new Float32Array(part.samples.length),
        silence,
      ]),
    );
  return stereo(onChannel(0), onChannel(1), 16_000);
}

/** Two voices, one on each channel. */
export function interview(): Buffer {
  const speech = samplesOf('speech.wav');
  return stereo(speech, speech.toReversed(), 16_000);
}

/** A short, noisy and clipped telephone call, one voice on each channel, whose file ends early: many warnings. */
export function poor(): Buffer {
  const speech = samplesOf('speech.wav').filter((_, at) => at % 2 === 0 && at < 96_000);
  let state = 1;
  const loud = (samples: Float32Array) =>
    samples.map((value) => {
      // Noise of MINSTD.
      state = (state * 48_271) % 2_147_483_647;
      return Math.max(-1, Math.min(1, 4 * value + 0.4 * (state / 2_147_483_647 - 0.5)));
    });
  const whole = stereo(loud(speech), loud(speech.toReversed()), 8000);
  return whole.subarray(0, whole.length - 20_001);
}

export function stereo(left: Float32Array, right: Float32Array, sampleRate: number): Buffer {
  const both = Float32Array.from(
    { length: 2 * left.length },
    (_, at) => (at % 2 === 0 ? left : right)[at >> 1] ?? 0,
  );
  return wavFile(both, sampleRate, 2);
}

const calmVoices = ['en-us+m3-140', 'en-gb+m5-160'] as const;

/** Six plain utterances of one voice, as `speakers` counts, with pauses, and among them one that is faster and higher. @param emotional whether that one is there */
export function outburst(emotional: boolean): { readonly samples: Float32Array; readonly start: number } {
  const silence = new Float32Array(16_000);
  const parts: Float32Array[] = [silence];
  let start = 0;
  for (let index = 0; index < 6; index++) {
    if (index === 4 && emotional) {
      start = parts.reduce((sum, part) => sum + part.length, 0) / 16_000;
      parts.push(spoken('en-us+f5-175', 1.5), silence);
    }
    parts.push(spoken(calmVoices[index % calmVoices.length] as string, 1), silence);
  }
  return { samples: joinArrays(parts), start };
}

/** Peak at -12 dBFS. @param speed of playing */
function spoken(voice: string, speed: number): Float32Array {
  const samples = speech(voice);
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const length = Math.floor(samples.length / speed);
  return Float32Array.from({ length }, (_, at) => (0.25 * (samples[Math.round(at * speed)] ?? 0)) / peak);
}
