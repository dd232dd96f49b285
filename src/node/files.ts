/** Reads regular files of a limited size, makes folders, and writes files of several parts. */
import { randomUUID } from 'node:crypto';
import { constants, mkdirSync, type Stats, statSync } from 'node:fs';
import { link, lstat, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { encodeName } from './file-names.ts';

export type ReadOptions = {
  readonly maxBytes: number;
  /** Setting of `maxBytes`, named when a file is larger. */
  readonly setting?: string;
  /** False refuses a symbolic link in the place of the file. */
  readonly followLinks?: boolean;
  /** Real paths of folders: a file anywhere else is not read, whether it exists or not. Null: no such limit. */
  readonly roots?: readonly string[] | null;
};

/** Why a file is not read. */
export class FileError extends Error {
  /** As in "Expected a readable file, got ..."; a code of the system where it refuses. */
  readonly got: string;

  constructor(path: string, got: string) {
    super(`${got}: ${path}`);
    this.got = got;
  }
}

/**
 * Neither a pipe nor a device is opened, whose reader would wait or never end.
 * @throws FileError
 */
export async function readRegularFile(given: string, options: ReadOptions): Promise<Buffer> {
  const { roots = null } = options;
  const path = roots === null ? given : await resolveInside(given, roots);
  const followLinks = roots === null && (options.followLinks ?? true);
  try {
    const name = encodeName(path);
    check(path, await (followLinks ? stat(name) : lstat(name)), options);
    const noFollow = followLinks ? 0 : constants.O_NOFOLLOW;
    const file = await open(name, constants.O_RDONLY | constants.O_NONBLOCK | noFollow);
    try {
      // Another file may have taken its place.
      const entry = await file.stat();
      check(path, entry, options);
      const bytes = Buffer.allocUnsafe(entry.size);
      const length = await readInto(bytes, (from) => file.read(bytes, from));
      return bytes.subarray(0, length);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw error instanceof FileError
      ? error
      : new FileError(path, (error as NodeJS.ErrnoException).code ?? String(error));
  }
}

/** Returns the real path. @throws FileError */
async function resolveInside(path: string, roots: readonly string[]): Promise<string> {
  const real = await realpath(path).catch(() => null);
  const isInside = (root: string) => real?.startsWith(root.endsWith(sep) ? root : root + sep);
  if (real === null || !roots.some(isInside)) throw new FileError(path, 'none inside the allowed folders');
  return real;
}

function check(path: string, entry: Stats, { maxBytes, setting }: ReadOptions): void {
  if (!entry.isFile()) throw new FileError(path, describeEntry(entry));
  if (entry.size <= maxBytes) return;
  const limit = setting === undefined ? maxBytes : `${maxBytes} (${setting})`;
  throw new FileError(path, `${entry.size} bytes, more than ${limit}`);
}

export function describeEntry(entry: Pick<Stats, 'isDirectory' | 'isSymbolicLink'>): string {
  if (entry.isSymbolicLink()) return 'a symbolic link';
  return entry.isDirectory() ? 'a folder' : 'a device, pipe or socket';
}

type Read = (from: number) => Promise<{ readonly bytesRead: number }>;

/** Returns the bytes read: fewer than fit when the file has become shorter. */
async function readInto(bytes: Buffer, read: Read): Promise<number> {
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await read(length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}

/**
 * Creates `path` and missing parents, private by default. The recursive option of `mkdirSync` never returns where an
 * existing folder refuses new ones, as under /proc.
 */
export function ensureDir(path: string, mode = 0o700): void {
  if (isDirectory(path)) return;
  if (dirname(path) !== path) ensureDir(dirname(path), mode);
  try {
    mkdirSync(encodeName(path), mode);
  } catch (error) {
    // Another process may have created it.
    if (!isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(encodeName(path), { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Writes a private file as a whole, in a folder that exists.
 * @param replace an existing file; otherwise it stays: of processes that create the file at once, the first one does
 */
export async function writeWhole(
  path: string,
  text: string,
  { replace }: { readonly replace: boolean },
): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, text, { mode: 0o600 });
  if (replace) return rename(draft, path);
  try {
    // Unlike rename, link never replaces an existing file.
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Writes a file of several parts without joining them in memory; creates its folder. @param flags `wx` fails for a file that exists */
export async function writeParts(
  path: string,
  parts: readonly Uint8Array[],
  flags: 'w' | 'wx' = 'w',
): Promise<void> {
  ensureDir(dirname(path), 0o777);
  const file = await open(encodeName(path), flags);
  try {
    for (const part of parts) await file.writeFile(part);
  } finally {
    await file.close();
  }
}
