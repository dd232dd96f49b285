import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ensureDir } from '../runtime/ensure-dir.ts';

/** Writes a file of several parts without joining them in memory; creates its folder. */
export async function writeParts(path: string, parts: readonly Uint8Array[]): Promise<void> {
  ensureDir(dirname(path), 0o777);
  const file = await open(path, 'w');
  try {
    for (const part of parts) await file.writeFile(part);
  } finally {
    await file.close();
  }
}
