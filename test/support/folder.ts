/** Temporary folders that are gone when the test process ends. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];
process.once('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-test-'));
  made.push(folder);
  return folder;
}

/** The bytes of every file below a folder. */
export function readAll(folder: string): Buffer[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) =>
    entry.isFile() ? [readFileSync(join(entry.parentPath, entry.name))] : [],
  );
}
