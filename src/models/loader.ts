/** Loads model folders and throws on every mismatch. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { FeatureSpec, Session } from '../analysis/platform.ts';
import { definitions, signals } from '../analysis/signals/table.ts';
import { settleVad } from '../analysis/speech.ts';
import { extract, featuresVersion } from '../audio/addon.ts';
import { type Kind, type Manifest, type ManifestOf, manifestSchema } from './manifest.ts';
import { findModels, ModelError, parseJson, readText, readWeights } from './model-files.ts';
import { openSession } from './session.ts';

export type Model<K extends Kind> = { readonly manifest: ManifestOf<K>; readonly session: Session };

/** One model of each kind; `trunk` and `vad` read the same features. */
export type Models = {
  /** Those of the whole set, which was loaded. */
  readonly manifests: readonly Manifest[];
  readonly features: FeatureSpec;
  /** The features of a frame of digital silence. */
  readonly silence: Float32Array;
  /** State of the VAD model after endless silence: that before a recording. */
  readonly silentVad: Float32Array;
  /** Voices of utterances; null when the params of the trunk have no `severalSpeakers`. */
  readonly voice: Session | null;
} & { readonly [K in Kind]: Model<K> };

/** A model whose weights have the hashes of its manifest. */
export type ModelFolder = {
  readonly path: string;
  readonly manifest: Manifest;
  readonly manifestBytes: Uint8Array;
  readonly weights: Uint8Array;
  readonly voiceWeights: Uint8Array | null;
};

const kinds: readonly Kind[] = ['vad', 'trunk', ...signals];

/** Inputs and outputs of the graph of each kind. */
const graphs: Readonly<Record<Kind, Pick<Session, 'inputs' | 'outputs'>>> = {
  vad: { inputs: ['features', 'state'], outputs: ['speech', 'syllable_rate', 'voice', 'next_state'] },
  trunk: { inputs: ['features'], outputs: ['tokens'] },
  ...definitions,
};

/** Validated manifests of all folders in `modelsDir`, without sessions: cheap enough for the main thread. */
export async function readManifests(modelsDir: string): Promise<Manifest[]> {
  const folders = await readModelFolders(modelsDir);
  return folders.map((folder) => folder.manifest);
}

/** @throws ModelError with the model, the expected and the actual value */
export async function loadModels(modelsDir: string): Promise<Models> {
  return openModels(await readByKind(modelsDir));
}

/**
 * The trunk is half of a request: with idle cores it runs on `threads` threads. Under load these would take processor time
 * from other requests.
 * @throws ModelError
 */
export async function loadModelsForCores(
  modelsDir: string,
  threads: number,
): Promise<{ readonly busy: Models; readonly idle: Models }> {
  const byKind = await readByKind(modelsDir);
  const busy = await openModels(byKind);
  return { busy, idle: threads === 1 ? busy : { ...busy, trunk: await open(byKind, 'trunk', threads) } };
}

async function readByKind(modelsDir: string): Promise<ReadonlyMap<Kind, ModelFolder>> {
  return new Map((await readModelFolders(modelsDir)).map((folder) => [folder.manifest.kind, folder]));
}

async function openModels(byKind: ReadonlyMap<Kind, ModelFolder>): Promise<Models> {
  const models = await Promise.all(kinds.map(async (kind) => [kind, await open(byKind, kind)]));
  const byName = Object.fromEntries(models) as { readonly [K in Kind]: Model<K> };
  const { features } = byName.trunk.manifest;
  const voice = await openVoice(byKind.get('trunk') as ModelFolder);
  const silence = silentFrame(features);
  const manifests = [...byKind.values()].map(({ manifest }) => manifest);
  const silentVad = await settleVad({ vad: byName.vad, silence });
  return { manifests, features, silence, silentVad, voice, ...byName };
}

/** What cuts and encodes utterances. */
export type Encoder = Pick<Models, 'features' | 'silence' | 'silentVad' | 'vad'> & {
  readonly trunk: Model<'trunk'> | null;
};

/** Loads the folders of a VAD model and of a trunk alone; null: no trunk. @throws ModelError */
export async function loadEncoder(vadFolder: string, trunkFolder: string | null): Promise<Encoder> {
  const openFolder = async <K extends Kind>(kind: K, folder: string) =>
    open(new Map([[kind, await readFolder(folder)]]), kind);
  const vad = await openFolder('vad', vadFolder);
  const { features } = vad.manifest;
  const silence = silentFrame(features);
  const trunk = trunkFolder === null ? null : await openFolder('trunk', trunkFolder);
  return { features, silence, silentVad: await settleVad({ vad, silence }), vad, trunk };
}

function silentFrame(spec: FeatureSpec): Float32Array {
  const { data, bins } = extract(new Float32Array(spec.winLength), spec);
  return data.slice(0, bins);
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
  const name = basename(path);
  const manifestBytes = await readText(path, 'manifest.json');
  const manifest = parseManifest(name, parseJson(path, 'manifest.json', manifestBytes));
  const weights = await readChecked(path, manifest.weights);
  const voice = manifest.kind === 'trunk' ? manifest.params.severalSpeakers?.weights : undefined;
  const voiceWeights = voice === undefined ? null : await readChecked(path, voice);
  expectEqual(name, 'name', name, manifest.name);
  expectEqual(name, 'featuresVersion', featuresVersion, manifest.featuresVersion);
  expectEqual(name, 'inputs', graphs[manifest.kind].inputs, manifest.inputs);
  expectEqual(name, 'outputs', graphs[manifest.kind].outputs, manifest.outputs);
  if (manifest.features !== null) checkFeatures(name, manifest.features);
  return { path, manifest, manifestBytes, weights, voiceWeights };
}

async function readChecked(path: string, { file, sha256 }: Manifest['weights']): Promise<Buffer> {
  const weights = await readWeights(path, file);
  const hash = createHash('sha256').update(weights).digest('hex');
  expectEqual(basename(path), 'weights.sha256', sha256, hash);
  return weights;
}

function parseManifest(name: string, json: unknown): Manifest {
  const parsed = manifestSchema.safeParse(json);
  if (!parsed.success) throw new ModelError(`Model ${name}: manifest.json: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

function checkFeatures(name: string, spec: FeatureSpec): void {
  try {
    extract(new Float32Array(0), spec);
  } catch (error) {
    throw new ModelError(`Model ${name}: features: ${(error as Error).message}`);
  }
}

function checkSet(manifests: readonly Manifest[]): void {
  for (const kind of kinds) {
    const count = manifests.filter((manifest) => manifest.kind === kind).length;
    if (count !== 1) throw new ModelError(`Expected one model of kind ${kind}, got ${count}`);
  }
  const trunk = manifests.find((manifest) => manifest.kind === 'trunk') as ManifestOf<'trunk'>;
  const pinned = { name: trunk.name, version: trunk.version, sha256: trunk.weights.sha256 };
  for (const manifest of manifests) {
    if (manifest.trunk !== null) expectEqual(manifest.name, 'trunk', pinned, manifest.trunk);
    if (manifest.features !== null) expectEqual(manifest.name, 'features', trunk.features, manifest.features);
  }
}

async function open<K extends Kind>(
  byKind: ReadonlyMap<Kind, ModelFolder>,
  kind: K,
  threads = 1,
): Promise<Model<K>> {
  const { manifest, weights } = byKind.get(kind) as ModelFolder & { manifest: ManifestOf<K> };
  return { manifest, session: await openGraph(manifest.name, weights, manifest, threads) };
}

function openVoice({ manifest, voiceWeights }: ModelFolder): Promise<Session> | null {
  const graph = { inputs: ['tokens', 'weights'], outputs: ['voice'] };
  return voiceWeights && openGraph(manifest.name, voiceWeights, graph);
}

async function openGraph(
  model: string,
  weights: Uint8Array,
  { inputs, outputs }: Pick<Session, 'inputs' | 'outputs'>,
  threads = 1,
): Promise<Session> {
  const session = await openSession(weights, threads).catch((error: unknown) => {
    throw new ModelError(`Model ${model}: Expected a self-contained ONNX file, got: ${String(error)}`);
  });
  expectEqual(model, 'inputs of the graph', inputs, session.inputs);
  expectEqual(model, 'outputs of the graph', outputs, session.outputs);
  return session;
}

function expectEqual(model: string, field: string, expected: unknown, got: unknown): void {
  if (isDeepStrictEqual(expected, got)) return;
  throw new ModelError(
    `Model ${model}: Expected ${JSON.stringify(expected)} for \`${field}\`, got ${JSON.stringify(got)}`,
  );
}
