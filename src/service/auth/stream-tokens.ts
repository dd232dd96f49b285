/**
 * Tokens for one live session, for browsers, which cannot send a Bearer token with a WebSocket. A token is the encrypted
 * principal: every process with the secret reads it, and only its use is stored.
 */
import { z } from 'zod';
import { decryptBytes, encryptBytes, nonceBytes } from '../encryption.ts';
import type { RateLimiterFactory } from './rate-limits.ts';
import { deriveKey } from './secret.ts';
import { type Scope, scopes } from './token-format.ts';
import type { Principal } from './token-table.ts';

export type StreamTokens = ReturnType<typeof createStreamTokens>;

const lifetimeSeconds = 60;
/** Clocks of hosts differ by less. A token that expires later is of a clock that was set back, and may have been used. */
const maxSkewSeconds = 60;
const pattern = /^[\w-]{60,2000}$/;

const payload = z.strictObject({
  id: z.string(),
  name: z.string(),
  owner: z.string().nullable(),
  scopes: z.array(z.enum(scopes)),
  purpose: z.string().nullable(),
  session: z.string().nullable(),
  expires: z.number(),
});

export function createStreamTokens(options: {
  readonly secret: string;
  /** Counts uses; in this process by default. */
  readonly rateLimiters?: RateLimiterFactory | null;
  /** ms since 1970 */
  readonly now?: () => number;
}) {
  const { secret, rateLimiters = null, now = Date.now } = options;
  const key = deriveKey(secret, 'stream tokens');
  let isFirstUse: Promise<(id: string) => Promise<boolean>> | null = null;
  return {
    /** @param permitted scopes of the principal */
    issue({ id, name, owner, purpose, session }: Principal, permitted: readonly Scope[]) {
      const expires = now() + 1000 * lifetimeSeconds;
      const token = encrypt(
        key,
        JSON.stringify({ id, name, owner, purpose, session, scopes: permitted, expires }),
      );
      return { token, expiresAt: new Date(expires) };
    },
    /** Returns null for an unknown, expired or used token. Without Redis, or while it is unreachable, a process counts its own uses. */
    async redeem(token: string): Promise<Principal | null> {
      const text = pattern.test(token) ? decrypt(key, Buffer.from(token, 'base64url')) : null;
      if (text === null) return null;
      const { expires, ...principal } = payload.parse(JSON.parse(text));
      const leftMs = expires - now();
      if (leftMs <= 0 || leftMs > 1000 * (lifetimeSeconds + maxSkewSeconds)) return null;
      isFirstUse ??= openUses(rateLimiters);
      // The nonce: tokens that differ in unused bits of their encoding are the same token.
      const id = Buffer.from(token, 'base64url').toString('hex', 0, nonceBytes);
      return (await (await isFirstUse)(id)) ? principal : null;
    },
  };
}

/** Loads its module on the first use. */
async function openUses(rateLimiters: RateLimiterFactory | null) {
  const { inMemory, useOnce } = await import('./rate-limits.ts');
  const seconds = lifetimeSeconds + maxSkewSeconds;
  return useOnce(rateLimiters ?? inMemory, 'stream-token', seconds);
}

function encrypt(key: Buffer, text: string): string {
  return encryptBytes(key, Buffer.from(text), '').toString('base64url');
}

/** Returns null for bytes that were not encrypted with the key. */
function decrypt(key: Buffer, bytes: Buffer): string | null {
  try {
    return decryptBytes(key, bytes, '').toString();
  } catch {
    return null;
  }
}
