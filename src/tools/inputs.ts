/** The files that a command reads: recordings, folders and lists of both, other files, and standard input. */
import { constants } from 'node:buffer';
import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join, relative, resolve } from 'node:path';
import { containers } from '../node/audio-formats.ts';
import { decodeName, encodeName } from '../node/file-names.ts';
import { type FileError, readRegularFile } from '../node/files.ts';
import { type CliContext, expected } from './context.ts';

export const standardInput = '-';

/** Of a file of text: lists, labels, segments, keys, reports. */
const maxTextBytes = 2 ** 26;

/**
 * `path` is absolute, or `-` with the `bytes` of standard input. `name` is the path below the folder in which it was found, `stdin`
 * of standard input. `optional`: found in a folder, without the extension of an audio file.
 */
export type Input = {
  readonly path: string;
  readonly name: string;
  readonly bytes: Uint8Array | null;
  readonly optional: boolean;
};

const audioExtensions = new Set(Object.values(containers).flat());

type Stdin = Pick<CliContext, 'stdin'>;

/** Walks folders. @param maxBytes of a recording on standard input; null refuses one @throws UsageError */
export async function findInputs(
  paths: readonly string[],
  list: string | undefined,
  terminal: Stdin,
  maxBytes: number | null,
): Promise<Input[]> {
  if (paths.length === 0 && list === undefined) throw expected('at least one recording', 'path', 'none');
  checkStandardInput([...paths, list ?? '']);
  const listed = list === undefined ? [] : await readLines(list, terminal);
  const names = [...paths, ...listed];
  checkStandardInput([...names, list ?? '']);
  const found: Input[] = [];
  for (const path of names) {
    if (path === standardInput) {
      if (maxBytes === null) throw expected('files', 'path', standardInput);
      found.push({ path, name: 'stdin', bytes: await readBytes(terminal, maxBytes), optional: false });
    } else found.push(...(await findFiles(path)));
  }
  return found;
}

/** The non-empty lines of a file or of standard input. @throws UsageError */
export async function readLines(list: string, terminal: Stdin): Promise<string[]> {
  const lines = (await readFile('--list', list, terminal)).toString('latin1').split(/\r?\n/);
  return lines.filter((line) => line !== '').map((line) => decodeName(Buffer.from(line, 'latin1')));
}

/** A whole file of UTF-8, or standard input. @throws UsageError */
export async function readText(name: string, path: string, terminal: Stdin): Promise<string> {
  return (await readFile(name, path, terminal)).toString();
}

function readFile(name: string, path: string, terminal: Stdin): Promise<Buffer> {
  return path === standardInput ? readBytes(terminal, maxTextBytes) : readNamedFile(name, path);
}

/**
 * Only a regular file: a pipe or device may never end.
 * @param name of the option or argument, for the error
 * @throws UsageError
 */
export function readNamedFile(name: string, path: string, maxBytes = maxTextBytes): Promise<Buffer> {
  return readRegularFile(path, { maxBytes }).catch(({ got }: FileError) => {
    throw expected('a readable file', name, `${path}: ${got}`);
  });
}

/** A file that the command wrote before, or an empty text. @throws UsageError */
export async function readEarlierFile(name: string, path: string): Promise<string> {
  const exists = await stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
  return exists ? (await readNamedFile(name, path, constants.MAX_STRING_LENGTH)).toString() : '';
}

/** Standard input to its end. @throws UsageError */
export async function readBytes({ stdin }: Stdin, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) throw expected(`at most ${maxBytes} bytes`, standardInput, 'more');
  }
  return Buffer.concat(chunks);
}

/** @throws UsageError when standard input is named more than once */
export function checkStandardInput(names: readonly string[]): void {
  if (names.filter((name) => name === standardInput).length > 1) {
    throw expected('standard input once', standardInput, 'it more often');
  }
}

/**
 * Returns a file, even a missing one, or every file below a folder in sorted order.
 * Symbolic links to folders are not followed, since they may form a cycle.
 */
async function findFiles(name: string): Promise<Input[]> {
  if (name === '') throw expected('a file or a folder', 'path', 'an empty text');
  const path = resolve(name);
  const entry = await stat(encodeName(path)).catch(() => null);
  if (!entry?.isDirectory()) return [{ path, name: basename(path), bytes: null, optional: false }];
  const found: string[] = [];
  await walk(path, found);
  if (found.length === 0) throw expected('a folder with files', 'path', `${name}, which has none`);
  return found.map((file) => ({
    path: file,
    name: relative(path, file),
    bytes: null,
    optional: !audioExtensions.has(extname(file).slice(1).toLowerCase()),
  }));
}

/** Relative to the working directory for a path inside it. */
export function displayPath(path: string): string {
  const short = relative(process.cwd(), path);
  return path === standardInput || short.startsWith('..') ? path : short;
}

async function walk(folder: string, found: string[]): Promise<void> {
  const entries = await readdir(encodeName(folder), { withFileTypes: true, encoding: 'buffer' });
  entries.sort((a, b) => Buffer.compare(a.name, b.name));
  for (const entry of entries) {
    const path = join(folder, decodeName(entry.name));
    if (entry.isDirectory()) await walk(path, found);
    else if (entry.isFile() || (entry.isSymbolicLink() && (await isFileLink(path)))) found.push(path);
  }
}

/** True for a broken link too, which fails when it is read. Excludes devices and pipes, which may never end. */
async function isFileLink(path: string): Promise<boolean> {
  return stat(encodeName(path)).then(
    (entry) => entry.isFile(),
    () => true,
  );
}
