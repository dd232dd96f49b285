/** Writes what the clients are made from: types of the OpenAPI document, and the TypeScript client as JavaScript. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApiDocument } from '../src/openapi/document.ts';
import { version } from '../src/version.ts';

export const client = 'clients/typescript';

/** @param folder where `schema.ts` and `dist/` go */
export function buildClient(folder: string): void {
  const scratch = mkdtempSync(join(tmpdir(), 'undertone-clients-'));
  try {
    const document = join(scratch, 'openapi.json');
    writeFileSync(document, JSON.stringify(openApiDocument(version)));
    run('openapi-typescript', [document, '--output', join(folder, 'src/schema.ts')]);
    run('tsc', ['-p', client, '--outDir', join(folder, 'dist')]);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function run(tool: string, args: readonly string[]): void {
  execFileSync(join('node_modules/.bin', tool), args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

if (process.argv[1]?.endsWith('clients.ts')) buildClient(client);
