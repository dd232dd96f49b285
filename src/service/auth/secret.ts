/** The secret of an installation, a private file in the data folder, and keys derived from it. */
import { hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const fileName = 'secret';
const secretBytes = 32;
const keyBytes = 32;

/** Safe for processes that start together: one creates the file and all read it. */
export async function loadOrCreateSecret(folder: string): Promise<string> {
  const path = join(folder, fileName);
  const existing = await readIfExists(path);
  if (existing !== null) return existing;
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, `${randomBytes(secretBytes).toString('base64url')}\n`, { mode: 0o600 });
  try {
    // Unlike rename, link never replaces an existing file.
    await link(draft, path);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}

/** @param purpose HKDF info: keys of different purposes are independent */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'undertone', purpose, keyBytes));
}

async function readIfExists(path: string): Promise<string | null> {
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
