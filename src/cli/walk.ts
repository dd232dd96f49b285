import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/**
 * Absolute paths: files as given, whether they are there or not, and every file below the given folders in sorted
 * order. Links to folders are not followed below a given one: they may lead in a circle.
 */
export async function findFiles(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths.map((given) => resolve(given))) {
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

/** A link that leads nowhere counts as a file, and fails as one. Devices and pipes could be read for ever. */
async function isFileLink(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isFile(),
    () => true,
  );
}
