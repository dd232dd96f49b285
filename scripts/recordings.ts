import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('recordings.sh', import.meta.url));
const folder = fileURLToPath(new URL('../build/recordings', import.meta.url));

let isMade = false;

/** The folder of recordings, one in every container; made when it is absent or older than its script. */
export function fixturesFolder(): string {
  if (!isMade) execFileSync('sh', [script, folder]);
  isMade = true;
  return folder;
}

export function fixture(name: string): Uint8Array {
  return readFileSync(join(fixturesFolder(), name));
}
