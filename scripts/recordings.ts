import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('recordings.sh', import.meta.url));
const folder = fileURLToPath(new URL('../build/recordings', import.meta.url));

/** The folder of recordings, one in every container; made when it is absent. */
export function fixturesFolder(): string {
  if (!existsSync(folder)) execFileSync('sh', [script, folder]);
  return folder;
}

export function fixture(name: string): Uint8Array {
  return readFileSync(join(fixturesFolder(), name));
}
