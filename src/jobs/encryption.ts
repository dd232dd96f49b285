/** Encrypts payloads and recordings in Redis with AES-256-GCM. The key is never stored in Redis. */
import { createHmac } from 'node:crypto';
import { deriveKey } from '../auth/secret.ts';
import { decryptBytes, encryptBytes } from '../runtime/aes-gcm.ts';

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

export function createCipher(secret: string): Cipher {
  const key = deriveKey(secret, 'waiting audio');
  const callbackKey = deriveKey(secret, 'callbacks');
  const ownerKey = deriveKey(secret, 'owners');
  return {
    pseudonym: (owner) => createHmac('sha256', ownerKey).update(owner).digest('base64url').slice(0, 22),
    digestKey: deriveKey(secret, 'request digests'),
    fingerprint: deriveKey(secret, 'fingerprint').toString('hex').slice(0, 8),
    callbackSecret: (owner) => `whsec_${createHmac('sha256', callbackKey).update(owner).digest('base64')}`,
    encrypt: (bytes, aad) => encryptBytes(key, bytes, aad),
    decrypt: (encrypted, aad) => decryptBytes(key, encrypted, aad),
  };
}
