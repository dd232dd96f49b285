/** Encrypts payloads and recordings in Redis with AES-256-GCM. The key is never stored in Redis. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { deriveKey } from '../auth/secret.ts';

export type Cipher = {
  /** @param aad additional authenticated data: identifies the content and is required to decrypt it */
  encrypt(bytes: Uint8Array, aad: string): Buffer;
  /** @throws Error for a different secret, a different `aad` or modified bytes */
  decrypt(encrypted: Uint8Array, aad: string): Buffer;
  /** Identifies the secret without revealing it. */
  readonly fingerprint: string;
  /** Signing secret of the owner's callbacks, as in the Standard Webhooks specification. */
  callbackSecret(owner: string): string;
  /** Replaces the name of an owner in Redis keys. */
  pseudonym(owner: string): string;
  /** For `digestRequest`. */
  readonly digestKey: Uint8Array;
};

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

export function createCipher(secret: string): Cipher {
  const key = deriveKey(secret, 'waiting audio');
  const callbackKey = deriveKey(secret, 'callbacks');
  const ownerKey = deriveKey(secret, 'owners');
  return {
    pseudonym: (owner) => createHmac('sha256', ownerKey).update(owner).digest('base64url').slice(0, 22),
    digestKey: deriveKey(secret, 'request digests'),
    fingerprint: deriveKey(secret, 'fingerprint').toString('hex').slice(0, 8),
    callbackSecret: (owner) => `whsec_${createHmac('sha256', callbackKey).update(owner).digest('base64')}`,
    encrypt: (bytes, aad) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(aad));
      const body = cipher.update(bytes);
      return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()]);
    },
    decrypt: (encrypted, aad) => {
      const decipher = createDecipheriv(algorithm, key, encrypted.subarray(0, nonceBytes))
        .setAAD(Buffer.from(aad))
        .setAuthTag(encrypted.subarray(-tagBytes));
      const body = decipher.update(encrypted.subarray(nonceBytes, -tagBytes));
      return Buffer.concat([body, decipher.final()]);
    },
  };
}
