/** Temporary folders that are gone when the test process ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-test-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
