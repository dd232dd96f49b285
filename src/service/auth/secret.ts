/** The secret of an installation, and encryption with keys derived from it. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

// The secret of an installation, a private file in the data folder, and keys derived from it.

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

// AES-256-GCM: nonce, ciphertext and tag in one buffer.

const algorithm = 'aes-256-gcm';
export const nonceBytes = 12;
const tagBytes = 16;

/** @param aad additional authenticated data, required to decrypt the bytes */
export function encryptBytes(key: Buffer, bytes: Uint8Array, aad: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(aad));
  const body = cipher.update(bytes);
  return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()]);
}

/** @throws Error for another key, another `aad` or modified bytes */
export function decryptBytes(key: Buffer, encrypted: Uint8Array, aad: string): Buffer {
  const options = { authTagLength: tagBytes };
  const decipher = createDecipheriv(algorithm, key, encrypted.subarray(0, nonceBytes), options)
    .setAAD(Buffer.from(aad))
    .setAuthTag(encrypted.subarray(-tagBytes));
  const body = decipher.update(encrypted.subarray(nonceBytes, -tagBytes));
  return Buffer.concat([body, decipher.final()]);
}
