import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates `path` and missing parents, private by default. The recursive option of `mkdirSync` never returns where an
 * existing folder refuses new ones, as under /proc.
 */
export function ensureDir(path: string, mode = 0o700): void {
  if (isDirectory(path)) return;
  if (dirname(path) !== path) ensureDir(dirname(path), mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process may have created it.
    if (!isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
