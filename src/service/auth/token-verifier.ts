/** Verifies tokens, with caches that save most database queries. */

import { timingSafeEqual } from 'node:crypto';
import { createCache } from '../cache.ts';
import { hashToken, isToken, scopes } from './token-format.ts';
import { type Principal, type TokenRecord, type TokenTableAccess, toRecord } from './token-table.ts';

/** Maximum delay of a revocation, or of a new token after its refusal, in other processes. */
const acceptedForMs = 2000;
const refusedForMs = 900;
/** Maximum age of the last successful query that is trusted while the database is unreachable. */
const trustedForMs = 10 * 60_000;
const cacheSize = 10_000;
export const staticPrincipal: Principal = {
  id: 'static',
  name: 'UNDERTONE_TOKEN',
  owner: null,
  scopes,
  purpose: null,
  session: null,
};

export function createVerifier(options: {
  readonly table: TokenTableAccess;
  readonly staticToken: string | null;
  readonly now: () => number;
  /** Called with the id of every accepted token. */
  readonly onUse: (id: string) => void;
}) {
  const { table, now, onUse } = options;
  const staticHash = options.staticToken === null ? null : hashToken(options.staticToken);
  const accepted = createCache<TokenRecord>({ size: cacheSize, lifetimeMs: acceptedForMs, now });
  const trusted = createCache<TokenRecord>({ size: cacheSize, lifetimeMs: trustedForMs, now });
  const refused = createCache<true>({ size: cacheSize, lifetimeMs: refusedForMs, now });
  const pending = new Map<string, Promise<TokenRecord | null>>();
  let revocations = 0;

  const isLive = ({ revokedAt, expiresAt }: TokenRecord) =>
    revokedAt === null && (expiresAt === null || expiresAt.getTime() > now());

  /** Returns null for an unknown, expired or revoked token. @throws ServiceError `storage_unavailable` */
  async function verify(token: string): Promise<Principal | null> {
    const hash = hashToken(token);
    if (staticHash !== null && timingSafeEqual(hash, staticHash)) return staticPrincipal;
    if (!isToken(token)) return null;
    const key = hash.toString('hex');
    const record = accepted.get(key) ?? (refused.get(key) ? null : await lookUpOnce(hash, key));
    if (record === null || !isLive(record)) return null;
    onUse(record.id);
    return record;
  }

  function lookUpOnce(hash: Buffer, key: string): Promise<TokenRecord | null> {
    const running =
      pending.get(key) ??
      lookUp(hash, key)
        .catch((error: unknown) => staleFallback(key, error))
        .finally(() => pending.delete(key));
    pending.set(key, running);
    return running;
  }

  /** Returns the last known record while the database is unreachable. */
  function staleFallback(key: string, error: unknown): TokenRecord {
    const record = trusted.get(key);
    if (record === undefined) throw error;
    accepted.set(key, record);
    return record;
  }

  async function lookUp(hash: Buffer, key: string): Promise<TokenRecord | null> {
    const before = revocations;
    const row = await table.find(key);
    const record = row && timingSafeEqual(hash, Buffer.from(row.hash, 'hex')) ? toRecord(row) : null;
    if (record === null || !isLive(record)) {
      refused.set(key, true);
      trusted.delete(key);
      return null;
    }
    if (before === revocations) {
      accepted.set(key, record);
      trusted.set(key, record);
    }
    return record;
  }

  /** Removes matching tokens from the caches. */
  function forget(matches: (record: TokenRecord) => boolean): void {
    revocations++;
    pending.clear();
    accepted.deleteWhere(matches);
    trusted.deleteWhere(matches);
  }

  return { verify, forget };
}
