/** Peaks of a recording per channel: what its waveform shows. */
import type { Recording } from './recording.ts';

export type Peaks = readonly Float32Array[];

const sampleRateHz = 8000;
/** More than the pixels of a wide screen. */
const maxPeaks = 4000;

/** Null when the browser cannot read the file or decode its format. */
export async function decodePeaks({ blob }: Recording): Promise<Peaks | null> {
  const context = new OfflineAudioContext(1, 1, sampleRateHz);
  const decoding = blob.arrayBuffer().then((bytes) => context.decodeAudioData(bytes));
  const audio = await decoding.catch(() => null);
  if (audio === null) return null;
  return Array.from({ length: audio.numberOfChannels }, (_, channel) =>
    reduce(audio.getChannelData(channel)),
  );
}

/** The sample with the largest magnitude of each of up to `maxPeaks` equal parts. */
function reduce(samples: Float32Array): Float32Array {
  const count = Math.min(maxPeaks, samples.length);
  const peaks = new Float32Array(count);
  for (let index = 0; index < count; index++) {
    const start = Math.floor((index * samples.length) / count);
    const end = Math.floor(((index + 1) * samples.length) / count);
    let peak = 0;
    for (let at = start; at < end; at++) {
      const sample = samples[at] ?? 0;
      if (Math.abs(sample) > Math.abs(peak)) peak = sample;
    }
    peaks[index] = peak;
  }
  return peaks;
}
