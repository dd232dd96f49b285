/** What waits in Redis is sealed: AES-256-GCM under a key that Redis never sees. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { deriveKey } from '../auth/secret.ts';

export type Cipher = {
  /** `place` says what the bytes are; they open under the same place alone. */
  encrypt(bytes: Uint8Array, place: string): Buffer;
  /** @throws Error when the bytes were sealed with another secret, for another place, or changed since */
  decrypt(sealed: Uint8Array, place: string): Buffer;
  /** Tells vaults of different secrets apart and says nothing about them. */
  readonly fingerprint: string;
  /** Signs the calls to whoever holds the job, in the form of the Standard Webhooks specification. */
  callbackSecret(holder: string): string;
  /** Stands for a holder in keys of Redis. */
  pseudonym(holder: string): string;
  /** Key of the digests of requests. */
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
    pseudonym: (holder) => createHmac('sha256', ownerKey).update(holder).digest('base64url').slice(0, 22),
    digestKey: deriveKey(secret, 'request digests'),
    fingerprint: deriveKey(secret, 'fingerprint').toString('hex').slice(0, 8),
    callbackSecret: (holder) => `whsec_${createHmac('sha256', callbackKey).update(holder).digest('base64')}`,
    encrypt: (bytes, place) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(place));
      const body = cipher.update(bytes);
      return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()]);
    },
    decrypt: (sealed, place) => {
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes))
        .setAAD(Buffer.from(place))
        .setAuthTag(sealed.subarray(-tagBytes));
      const body = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
      return Buffer.concat([body, decipher.final()]);
    },
  };
}
