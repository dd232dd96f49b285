import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes `path` and the folders above it that are missing, for their owner alone unless `mode` says otherwise.
 * Node's own recursive call never returns where a folder is there but nothing can be made in it, as under /proc.
 */
export function ensureDir(path: string, mode = 0o700): void {
  if (isDirectory(path)) return;
  if (dirname(path) !== path) ensureDir(dirname(path), mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process may have been faster.
    if (!isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
