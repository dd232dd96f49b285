/** Temporary folders that are gone when the test process ends. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
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

/** Every file below a folder. */
export function readAll(folder: string): { readonly name: string; readonly bytes: Buffer }[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return files.map((name) => ({ name, bytes: readFileSync(join(folder, name)) }));
}
