/** Files of a folder of models. It may come from strangers: files are regular and of a limited size, text has no control characters. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ModelError } from '../analysis/platform.ts';
import { escapeControls, hasControls } from '../runtime/control-characters.ts';
import { describeEntry, FileError, readRegularFile } from '../runtime/regular-file.ts';

/** Of a message of protobuf, which an ONNX file is. */
const maxWeightsBytes = 2 ** 31 - 1;
const maxTextBytes = 2 ** 22;
const maxDepth = 32;

/** Folders of the models in `modelsDir`, in sorted order. `modelsDir` may be a link, nothing inside it may. @throws ModelError */
export async function findModels(modelsDir: string): Promise<string[]> {
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
export async function readWeights(folder: string, file: string): Promise<Buffer> {
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
export async function readJson(folder: string, file: string): Promise<unknown> {
  return parseJson(folder, file, await readText(folder, file));
}

/** @throws ModelError */
export async function readText(folder: string, file: string): Promise<Buffer> {
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
export function parseJson(folder: string, file: string, bytes: Buffer): unknown {
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
    for (const [name, own] of Object.entries(value)) open.push([name, depth], [own, depth + 1]);
  }
  return null;
}
