/** Loads folders of models, with the addon and ONNX Runtime of Node.js. */
import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { ModelError, type Platform } from '../analysis/platform.ts';
import * as addon from '../audio/addon.ts';
import { type Golden, goldenSchema } from './golden.ts';
import {
  checkSet,
  type Encoder,
  type ModelBytes,
  type Models,
  openEncoder,
  openModels,
  openModelsForCores,
  readModel,
} from './loader.ts';
import type { Kind, Manifest } from './manifest.ts';
import { findModels, parseJson, readJson, readText, readWeights } from './model-files.ts';
import { openSession } from './session.ts';

const platform: Platform = {
  decode: addon.decode,
  openIncrementalDecoder: addon.openIncrementalDecoder,
  openChannelDecoders: addon.openChannelDecoders,
  extract: addon.extract,
  measureQuality: addon.measureQuality,
  trackProsody: addon.trackProsody,
  featuresVersion: addon.featuresVersion,
  openSession,
  createSha256: () => {
    const hash = createHash('sha256');
    return { update: (bytes) => hash.update(bytes), digest: () => hash.digest('hex') };
  },
};

/** Its files have manifest.json as well. */
export type ModelFolder = ModelBytes & { readonly path: string };

/** Validated manifests of all folders in `modelsDir`, without sessions: cheap enough for the main thread. */
export async function readManifests(modelsDir: string): Promise<Manifest[]> {
  const folders = await readModelFolders(modelsDir);
  return folders.map((folder) => folder.manifest);
}

/** @throws ModelError with the model, the expected and the actual value */
export async function loadModels(modelsDir: string): Promise<Models> {
  return openModels(await readModelFolders(modelsDir), platform);
}

/** As `openModelsForCores`. @throws ModelError */
export async function loadModelsForCores(modelsDir: string, threads: number) {
  return openModelsForCores(await readModelFolders(modelsDir), threads, platform);
}

/** Loads the folders of a VAD model and of a trunk alone; null: no trunk. @throws ModelError */
export async function loadEncoder(vadFolder: string, trunkFolder: string | null): Promise<Encoder> {
  const vad = await readFolder(vadFolder);
  return openEncoder(vad, trunkFolder === null ? null : await readFolder(trunkFolder), platform);
}

export async function readGolden(modelsDir: string, name: Kind): Promise<Golden> {
  return goldenSchema.parse(await readJson(join(modelsDir, name), 'golden.json'));
}

/** Every model of a set, in the order of their names. @throws ModelError */
export async function readModelFolders(modelsDir: string): Promise<ModelFolder[]> {
  const paths = await findModels(modelsDir).catch((error: unknown) => {
    if (error instanceof ModelError) throw error;
    throw new ModelError(`Expected a folder of models, got ${modelsDir}, which cannot be read`);
  });
  const folders = await Promise.all(paths.map(readFolder));
  checkSet(folders.map((folder) => folder.manifest));
  return folders;
}

async function readFolder(path: string): Promise<ModelFolder> {
  const manifestBytes = await readText(path, 'manifest.json');
  const json = parseJson(path, 'manifest.json', manifestBytes);
  const model = await readModel(basename(path), json, (file) => readFile(path, file), platform);
  return { ...model, path, files: new Map([['manifest.json', manifestBytes], ...model.files]) };
}

async function readFile(path: string, file: string): Promise<Buffer> {
  if (!file.endsWith('.json')) return readWeights(path, file);
  const bytes = await readText(path, file);
  parseJson(path, file, bytes);
  return bytes;
}
