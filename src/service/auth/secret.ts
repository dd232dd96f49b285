/** The secret of an installation, a private file in the data folder, and keys derived from it. */
import { hkdfSync, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from '../../node/files.ts';

const fileName = 'secret';
const secretBytes = 32;
const keyBytes = 32;

/** Safe for processes that start together: one creates the file and all read it. */
export async function loadOrCreateSecret(folder: string): Promise<string> {
  const path = join(folder, fileName);
  const existing = await readIfExists(path);
  if (existing !== null) return existing;
  await writeWhole(path, `${randomBytes(secretBytes).toString('base64url')}\n`, { replace: false });
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
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
