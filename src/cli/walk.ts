import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/**
 * Returns absolute paths: named files, even missing ones, and every file below the named folders in sorted order.
 * Symbolic links to folders are not followed, since they may form a cycle.
 */
export async function findFiles(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths.map((each) => resolve(each))) {
    const isFolder = await stat(path).then(
      (entry) => entry.isDirectory(),
      () => false,
    );
    if (isFolder) await walk(path, found);
    else found.push(path);
  }
  return found;
}

async function walk(folder: string, found: string[]): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await walk(path, found);
    else if (entry.isFile() || (entry.isSymbolicLink() && (await isFileLink(path)))) found.push(path);
  }
}

/** True for a broken link too, which fails when it is read. Excludes devices and pipes, which may never end. */
async function isFileLink(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isFile(),
    () => true,
  );
}
