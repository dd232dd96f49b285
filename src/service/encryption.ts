/** AES-256-GCM: nonce, ciphertext and tag in one buffer. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

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
