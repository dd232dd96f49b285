/** Thread entry of `undertone features`: extracts the features of one file at a time. */
import { open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { workerData } from 'node:worker_threads';
import { type DecodeLimits, decode, extract, type FeatureSpec, isAudioError } from '../audio/addon.ts';
import { encodeNpy } from '../audio/npy.ts';
import { ensureDir } from '../runtime/ensure-dir.ts';
import { reportReady } from '../workers/thread-status.ts';
import type { Input } from './inputs.ts';

export type FeaturesSettings = { readonly spec: FeatureSpec; readonly limits: DecodeLimits };
export type FeaturesTask = Omit<Input, 'optional'> & { readonly output: string };
export type Extracted = { readonly frames: number } | { readonly error: string };

const { spec, limits } = workerData as FeaturesSettings;

reportReady();

/** Never rejects: an error is a result. */
export async function run({ path, bytes, output }: FeaturesTask): Promise<Extracted> {
  try {
    const recording = bytes ?? (await readFile(path));
    const { samples } = decode(recording, {
      sampleRate: spec.sampleRate,
      channel: null,
      limits,
      cancel: null,
    });
    const { data, frames, bins } = extract(samples, spec);
    await write(output, encodeNpy(data, [frames, bins]));
    return { frames };
  } catch (error) {
    if (isAudioError(error)) return { error: error.reason };
    const { code, message } = error as NodeJS.ErrnoException;
    return { error: code === undefined ? String(error) : message };
  }
}

async function write(path: string, parts: readonly Uint8Array[]): Promise<void> {
  ensureDir(dirname(path), 0o777);
  const file = await open(path, 'w');
  try {
    for (const part of parts) await file.writeFile(part);
  } finally {
    await file.close();
  }
}
