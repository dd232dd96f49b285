/** Copies of the shipped models in which something was changed. */
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

export type Json = Record<string, unknown>;

/** Gone when the test is over. */
export async function copyModels(t: ExecutionContext, from = 'models/standard'): Promise<string> {
  const models = await mkdtemp(join(tmpdir(), 'undertone-models-'));
  t.teardown(() => rm(models, { recursive: true }));
  await cp(from, models, { recursive: true });
  return models;
}

export async function editManifest(
  models: string,
  name: string,
  change: (manifest: Json) => void,
): Promise<void> {
  const path = join(models, name, 'manifest.json');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as Json;
  change(manifest);
  await writeFile(path, JSON.stringify(manifest));
}

/** A copy in which one manifest was changed. */
export async function withManifest(
  t: ExecutionContext,
  name: string,
  change: (manifest: Json) => void,
  from?: string,
): Promise<string> {
  const models = await copyModels(t, from);
  await editManifest(models, name, change);
  return models;
}

/** Reason of `withoutEmotion`. */
export const noEmotion = 'No recording of these models has a label';

/** A copy that reports no emotion, as folders that version 1.0.0 of the service adapted may be. */
export function withoutEmotion(t: ExecutionContext): Promise<string> {
  return withManifest(t, 'emotion', (manifest) => Object.assign(manifest, { unavailable: noEmotion }));
}

/** A copy without the model that separates voices, as folders that version 1.0.0 of the service adapted are. */
export async function withoutVoice(t: ExecutionContext): Promise<string> {
  const models = await copyModels(t);
  await rm(join(models, 'voice'), { recursive: true });
  return models;
}

/** A copy without the warning `several_speakers`. */
export function withoutComparison(t: ExecutionContext): Promise<string> {
  return withManifest(t, 'trunk', (manifest) => {
    delete (manifest.params as Json).severalSpeakers;
  });
}

export async function editWeights(
  models: string,
  name: string,
  change: (weights: Buffer) => void,
): Promise<void> {
  const path = join(models, name, 'weights.onnx');
  const weights = await readFile(path);
  change(weights);
  await writeFile(path, weights);
}

/** A copy in which a head has a correction.json. */
export async function withCorrection(t: ExecutionContext, name: string, correction: string): Promise<string> {
  const models = await copyModels(t);
  await writeFile(join(models, name, 'correction.json'), correction);
  await editManifest(models, name, (manifest) => {
    const sha256 = createHash('sha256').update(correction).digest('hex');
    Object.assign(manifest, { correction: { file: 'correction.json', sha256, labelsSha256: sha256 } });
  });
  return models;
}

/** Writes the hash of the weights as they are now into their manifest. */
export async function renewHash(models: string, name: string): Promise<void> {
  const weights = await readFile(join(models, name, 'weights.onnx'));
  await editManifest(models, name, (manifest) => {
    (manifest.weights as Json).sha256 = createHash('sha256').update(weights).digest('hex');
  });
}
