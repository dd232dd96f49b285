/** Loads folders of models, which may come from strangers, with the addon and ONNX Runtime of Node.js. */
import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  type Analyzer,
  analyzerOf,
  checkSet,
  type DecodeLimits,
  type Encoder,
  type Golden,
  goldenSchema,
  loadOnce,
  type ModelBytes,
  ModelError,
  type Models,
  openEncoder,
  openModels,
  openModelsForCores,
  type Platform,
  readModel,
  releaseFiles,
} from '../engine/index.ts';
import type { Kind, Manifest } from '../engine/schema.ts';
import * as addon from './addon.ts';
import { escapeControls, hasControls } from './controls.ts';
import { describeEntry, FileError, readRegularFile } from './files.ts';
import { openSession } from './onnx.ts';
import { successorsOfOpen } from './paths.ts';

const platform: Platform = {
  decode: addon.decode,
  openIncrementalDecoder: addon.openIncrementalDecoder,
  openChannelDecoders: addon.openChannelDecoders,
  extract: addon.extract,
  measureQuality: addon.measureQuality,
  filterStream: addon.filterStream,
  temporalCentroid: addon.temporalCentroid,
  trackProsody: addon.trackProsody,
  release: addon.release,
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
  return withFolders(modelsDir, async (folders) => folders.map((folder) => folder.manifest));
}

/** @throws ModelError with the model, the expected and the actual value */
export async function loadModels(modelsDir: string): Promise<Models> {
  return withFolders(modelsDir, (folders) => openModels(folders, platform));
}

/** As `openModelsForCores`. @throws ModelError */
export async function loadModelsForCores(modelsDir: string, threads: number) {
  return withFolders(modelsDir, (folders) => openModelsForCores(folders, threads, platform));
}

/** The files take memory until `use` has ended. */
async function withFolders<Result>(
  modelsDir: string,
  use: (folders: readonly ModelFolder[]) => Promise<Result>,
): Promise<Result> {
  const folders = await readModelFolders(modelsDir);
  const result = await use(folders);
  releaseFiles(folders, platform);
  return result;
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
    const hint = basename(modelsDir) === 'open' ? `: use models/${successorsOfOpen}` : '';
    throw new ModelError(`Expected a folder of models, got ${modelsDir}, which cannot be read${hint}`);
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

// Files of a folder of models. It may come from strangers: files are regular and of a limited size, text has no control characters.

/** Of a message of protobuf, which an ONNX file is. */
const maxWeightsBytes = 2 ** 31 - 1;
const maxTextBytes = 2 ** 22;
const maxDepth = 32;

/** Folders of the models in `modelsDir`, in sorted order. `modelsDir` may be a link, nothing inside it may. @throws ModelError */
async function findModels(modelsDir: string): Promise<string[]> {
  const entries = await readdir(modelsDir, { withFileTypes: true });
  for (const entry of entries) checkEntry(basename(modelsDir), 'a folder or file', entry);
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  for (const name of names) {
    for (const entry of await readdir(join(modelsDir, name), { withFileTypes: true }))
      checkEntry(name, 'a file', entry);
  }
  return names.sort().map((name) => join(modelsDir, name));
}

function checkEntry(model: string, expected: string, entry: Dirent): void {
  if (entry.isDirectory() || entry.isFile()) return;
  throw new ModelError(`Model ${model}: Expected ${expected} ${entry.name}, got ${describeEntry(entry)}`);
}

/** @throws ModelError */
async function readWeights(folder: string, file: string): Promise<Buffer> {
  return (await read(folder, file, maxWeightsBytes)) ?? absent(folder, file);
}

/** Null when there is none. @throws ModelError */
export async function readCard(folder: string): Promise<Buffer | null> {
  const card = await read(folder, 'CARD.md', maxTextBytes);
  if (
    card
      ?.toString()
      .split(/\r?\n|\t/)
      .some(hasControls)
  )
    throw new ModelError(
      `Model ${basename(folder)}: Expected a CARD.md without control characters, got one with`,
    );
  return card;
}

/** @throws ModelError */
async function readJson(folder: string, file: string): Promise<unknown> {
  return parseJson(folder, file, await readText(folder, file));
}

/** @throws ModelError */
async function readText(folder: string, file: string): Promise<Buffer> {
  return (await read(folder, file, maxTextBytes)) ?? absent(folder, file);
}

/** Null when there is none. @throws ModelError */
export async function readOptionalJson(folder: string, file: string): Promise<unknown> {
  const bytes = await read(folder, file, maxTextBytes);
  return bytes && parseJson(folder, file, bytes);
}

async function read(folder: string, file: string, maxBytes: number): Promise<Buffer | null> {
  try {
    return await readRegularFile(join(folder, file), { maxBytes, followLinks: false });
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    if (error.got === 'ENOENT') return null;
    throw unreadable(folder, file, error.got);
  }
}

function absent(folder: string, file: string): never {
  throw unreadable(folder, file, 'ENOENT');
}

function unreadable(folder: string, file: string, got: string): ModelError {
  return new ModelError(`Model ${basename(folder)}: Expected a readable file ${file}, got ${got}`);
}

/** @throws ModelError */
function parseJson(folder: string, file: string, bytes: Buffer): unknown {
  const where = `Model ${basename(folder)}`;
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString());
  } catch {
    throw new ModelError(`${where}: Expected JSON in ${file}, got something else`);
  }
  const wrong = findWrong(json);
  if (wrong !== null) throw new ModelError(`${where}: ${file}: ${wrong}`);
  return json;
}

/** Its text stands in cards, pages, logs and terminals. */
function findWrong(json: unknown): string | null {
  const open: (readonly [value: unknown, depth: number])[] = [[json, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, depth] = next;
    if (depth > maxDepth) return `Expected at most ${maxDepth} levels, got more`;
    if (typeof value === 'string' && hasControls(value))
      return `Expected text without control characters, got "${escapeControls(value)}"`;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, child] of Object.entries(value)) open.push([name, depth], [child, depth + 1]);
  }
  return null;
}

type AnalyzerOptions = { readonly modelsDir: string; readonly limits: DecodeLimits };

/** Loads every model of `modelsDir` for the calling thread. @throws ModelError */
export async function createAnalyzer({ modelsDir, limits }: AnalyzerOptions): Promise<Analyzer> {
  return analyzerOf(await loadModels(modelsDir), limits);
}

const analyzers = new Map<string, () => Promise<Analyzer>>();

/** Caches the models of each folder. A failed load is retried by the next call. @throws ModelError */
export function loadAnalyzer(options: AnalyzerOptions): Promise<Analyzer> {
  const key = JSON.stringify([options.modelsDir, options.limits]);
  const load = analyzers.get(key) ?? loadOnce(() => createAnalyzer(options));
  analyzers.set(key, load);
  return load();
}
