/** The secret of an installation, made once and kept in the data folder for its owner alone, and the keys derived from it. */
import { hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const fileName = 'secret';
const secretBytes = 32;
const keyBytes = 32;

/** Of several processes that start together one makes it and all read the same. */
export async function loadOrCreateSecret(folder: string): Promise<string> {
  const path = join(folder, fileName);
  const kept = await readIfThere(path);
  if (kept !== null) return kept;
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, `${randomBytes(secretBytes).toString('base64url')}\n`, { mode: 0o600 });
  try {
    // Unlike a rename, a link never replaces what is there.
    await link(draft, path);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}

/** @param purpose keys of different purposes tell nothing about one another */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'undertone', purpose, keyBytes));
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
