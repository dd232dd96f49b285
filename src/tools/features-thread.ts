/** Thread entry of `undertone features`: extracts the features of one file at a time. */
import { workerData } from 'node:worker_threads';
import { type DecodeLimits, type FeatureSpec, type Features, isAudioError } from '../engine/index.ts';
import { decode, extract, trackProsody } from '../node/addon.ts';
import { prosody, prosodyColumns } from '../node/feature-specs.ts';
import { FileError, readRegularFile, writeParts } from '../node/files.ts';
import { encodeNpy } from '../node/npy.ts';
import { reportReady } from '../service/workers/protocol.ts';
import type { Input } from './inputs.ts';

const prosodySampleRate = 16_000;

export type FeaturesSettings = {
  readonly spec: FeatureSpec | typeof prosody;
  readonly limits: DecodeLimits;
  /** Of a file. */
  readonly maxBytes: number;
};
export type FeaturesTask = Pick<Input, 'path' | 'bytes'> & { readonly output: string };
export type Extracted = { readonly frames: number } | { readonly error: string };

const { spec, limits, maxBytes } = workerData as FeaturesSettings;

reportReady();

/** Never rejects: an error is a result. */
export async function run({ path, bytes, output }: FeaturesTask): Promise<Extracted> {
  try {
    const recording = bytes ?? (await readRegularFile(path, { maxBytes }));
    const { samples } = decode(recording, {
      sampleRate: spec === prosody ? prosodySampleRate : spec.sampleRate,
      channel: null,
      track: null,
      limits,
      cancel: null,
    });
    const { data, frames, bins } = spec === prosody ? await extractProsody(samples) : extract(samples, spec);
    await writeParts(output, encodeNpy(data, [frames, bins]));
    return { frames };
  } catch (error) {
    if (isAudioError(error)) return { error: error.reason };
    if (error instanceof FileError) return { error: `Expected a readable file, got ${error.got}` };
    const { code, message } = error as NodeJS.ErrnoException;
    return { error: code === undefined ? String(error) : message };
  }
}

async function extractProsody(samples: Float32Array): Promise<Features> {
  const tracks = await trackProsody(samples, prosodySampleRate);
  const columns = prosodyColumns.map(({ track }) => tracks[track]);
  const data = new Float32Array(tracks.pitchHz.length * columns.length);
  for (const [bin, column] of columns.entries()) {
    for (const [frame, value] of column.entries()) data[frame * columns.length + bin] = value;
  }
  return { data, frames: tracks.pitchHz.length, bins: columns.length };
}
