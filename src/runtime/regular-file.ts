/** Reads files that end: regular ones, of a limited size. */
import { constants, type Stats } from 'node:fs';
import { lstat, open, stat } from 'node:fs/promises';

export type ReadOptions = {
  readonly maxBytes: number;
  /** False refuses a symbolic link in the place of the file. */
  readonly followLinks?: boolean;
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
export async function readRegularFile(path: string, options: ReadOptions): Promise<Buffer> {
  const { followLinks = true } = options;
  try {
    check(path, await (followLinks ? stat(path) : lstat(path)), options);
    const noFollow = followLinks ? 0 : constants.O_NOFOLLOW;
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | noFollow);
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

function check(path: string, entry: Stats, { maxBytes }: ReadOptions): void {
  if (!entry.isFile()) throw new FileError(path, describeEntry(entry));
  if (entry.size > maxBytes) throw new FileError(path, `${entry.size} bytes, more than ${maxBytes}`);
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
