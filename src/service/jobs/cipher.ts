/** Encrypts payloads and recordings in Redis with AES-256-GCM. The key is never stored in Redis. */
import { createHmac } from 'node:crypto';
import { deriveKey } from '../auth/secret.ts';
import { decryptBytes, encryptBytes } from '../encryption.ts';

export type Cipher = ReturnType<typeof createCipher>;

export function createCipher(secret: string) {
  const key = deriveKey(secret, 'waiting audio');
  const callbackKey = deriveKey(secret, 'callbacks');
  const ownerKey = deriveKey(secret, 'owners');
  return {
    /** Replaces the name of an owner in Redis keys. */
    pseudonym: (owner: string) =>
      createHmac('sha256', ownerKey).update(owner).digest('base64url').slice(0, 22),
    /** For `digestRequest`. */
    digestKey: deriveKey(secret, 'request digests'),
    /** Identifies the secret without revealing it. */
    fingerprint: deriveKey(secret, 'fingerprint').toString('hex').slice(0, 8),
    /** Signing secret of the owner's callbacks, as in the Standard Webhooks specification. */
    callbackSecret: (owner: string) =>
      `whsec_${createHmac('sha256', callbackKey).update(owner).digest('base64')}`,
    /** @param aad additional authenticated data: identifies the content and is required to decrypt it */
    encrypt: (bytes: Uint8Array, aad: string) => encryptBytes(key, bytes, aad),
    /** @throws Error for a different secret, a different `aad` or modified bytes */
    decrypt: (encrypted: Uint8Array, aad: string) => decryptBytes(key, encrypted, aad),
  };
}
