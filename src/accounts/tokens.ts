/** API tokens: made, checked, listed and revoked. Only SHA-256 hashes are kept, in the database and in memory. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Selectable } from 'kysely';
import { createCache } from './cache.ts';
import { type Database, isDuplicate, type TokenTable, unavailable } from './storage.ts';
import { drawText, drawToken, isToken } from './token-format.ts';

export const scopes = ['analyze:emotion', 'analyze:cognitive'] as const;
export type Scope = (typeof scopes)[number];

/** Who a token belongs to, as a request sees it. */
export type Bearer = { readonly id: string; readonly name: string; readonly scopes: readonly Scope[] };

export type TokenRecord = Bearer & {
  readonly prefix: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
};

export type TokenRequest = {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
};

export type Tokens = {
  /** Null for a token that is unknown, expired or revoked. @throws Failure `storage_unavailable` */
  verify(token: string): Promise<Bearer | null>;
  /** The only time that the token itself is seen. @throws TokenError */
  create(request: TokenRequest): Promise<{ readonly token: string; readonly record: TokenRecord }>;
  /** Every token that ever was, oldest first. */
  list(): Promise<TokenRecord[]>;
  /** Null when no live token has this id or name. */
  revoke(idOrName: string): Promise<TokenRecord | null>;
  /** Whether a token was ever made. */
  hasAny(): Promise<boolean>;
};

/** A request for a token that cannot be granted as it is. */
export class TokenError extends Error {}

/** How long another process may take to hear of a revocation, and of a new token after its refusal. */
const acceptedForMs = 2000;
const refusedForMs = 900;
const cacheSize = 10_000;
const idLength = 12;
const idPrefix = 'tok_';
const namePattern = /^[\p{L}\p{N}](?:[\p{L}\p{N} ._@-]{0,62}[\p{L}\p{N}])?$/u;
const staticBearer: Bearer = { id: 'static', name: 'UNDERTONE_TOKEN', scopes };

type Row = Selectable<TokenTable>;

export function createTokens(options: {
  readonly database: Database;
  /** A token with every scope that lives in the configuration. */
  readonly staticToken: string | null;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}): Tokens {
  const { database, now = Date.now } = options;
  const staticHash = options.staticToken === null ? null : sha256(options.staticToken);
  const accepted = createCache<TokenRecord>({ size: cacheSize, lifetimeMs: acceptedForMs, now });
  const refused = createCache<true>({ size: cacheSize, lifetimeMs: refusedForMs, now });
  const pending = new Map<string, Promise<Bearer | null>>();
  let revocations = 0;

  const isLive = ({ revokedAt, expiresAt }: TokenRecord) =>
    revokedAt === null && (expiresAt === null || expiresAt.getTime() > now());

  async function verify(token: string): Promise<Bearer | null> {
    const hash = sha256(token);
    if (staticHash !== null && timingSafeEqual(hash, staticHash)) return staticBearer;
    if (!isToken(token)) return null;
    const key = hash.toString('hex');
    const known = accepted.get(key);
    if (known !== undefined) return isLive(known) ? known : null;
    if (refused.get(key)) return null;
    const running = pending.get(key) ?? lookUp(hash, key).finally(() => pending.delete(key));
    pending.set(key, running);
    return running;
  }

  async function lookUp(hash: Buffer, key: string): Promise<Bearer | null> {
    const before = revocations;
    const row = await reach(
      database.selectFrom('tokens').selectAll().where('hash', '=', key).executeTakeFirst(),
    );
    const record = row && timingSafeEqual(hash, Buffer.from(row.hash, 'hex')) ? toRecord(row) : null;
    if (record === null || !isLive(record)) {
      refused.set(key, true);
      return null;
    }
    if (before === revocations) accepted.set(key, record);
    return record;
  }

  async function create(request: TokenRequest): Promise<{ token: string; record: TokenRecord }> {
    check(request, now());
    const token = drawToken();
    const row: Row = {
      id: idPrefix + drawText(idLength),
      name: request.name,
      prefix: token.slice(0, 7),
      hash: sha256(token).toString('hex'),
      scopes: scopes.filter((scope) => request.scopes.includes(scope)).join(' '),
      created_at: now(),
      expires_at: request.expiresAt?.getTime() ?? null,
      revoked_at: null,
    };
    try {
      await database.insertInto('tokens').values(row).execute();
    } catch (error) {
      if (!isDuplicate(error)) throw unavailable(error);
      throw new TokenError(`Expected an unused name for \`name\`, got ${JSON.stringify(request.name)}`);
    }
    return { token, record: toRecord(row) };
  }

  async function revoke(idOrName: string): Promise<TokenRecord | null> {
    const isId = idOrName.startsWith(idPrefix);
    const row = await reach(
      database
        .updateTable('tokens')
        .set({ revoked_at: now() })
        .where(isId ? 'id' : 'name', '=', idOrName)
        .where('revoked_at', 'is', null)
        .returningAll()
        .executeTakeFirst(),
    );
    if (row === undefined) return null;
    revocations++;
    accepted.delete(row.hash);
    return toRecord(row);
  }

  async function list(): Promise<TokenRecord[]> {
    const rows = database.selectFrom('tokens').selectAll().orderBy('created_at').orderBy('id').execute();
    return (await reach(rows)).map(toRecord);
  }

  async function hasAny(): Promise<boolean> {
    return (await reach(database.selectFrom('tokens').select('id').executeTakeFirst())) !== undefined;
  }

  return { verify, create, list, revoke, hasAny };
}

async function reach<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (cause) {
    throw unavailable(cause);
  }
}

function check({ name, scopes: asked, expiresAt }: TokenRequest, now: number): void {
  const refuse = (what: string, field: string, got: unknown): never => {
    throw new TokenError(`Expected ${what} for \`${field}\`, got ${JSON.stringify(got)}`);
  };
  if (!namePattern.test(name) || name.startsWith(idPrefix)) {
    refuse('1 to 64 letters, digits, spaces or ._@- that do not begin with tok_', 'name', name);
  }
  const unknown = asked.find((scope) => !scopes.some((known) => known === scope));
  if (asked.length === 0 || unknown !== undefined)
    refuse(`scopes of ${scopes.join(', ')}`, 'scopes', unknown ?? '');
  if (expiresAt !== null && !(expiresAt.getTime() > now)) refuse('a time to come', 'expires', expiresAt);
}

function toRecord(row: Row): TokenRecord {
  const date = (time: number | null) => (time === null ? null : new Date(Number(time)));
  return {
    id: row.id,
    name: row.name,
    scopes: scopes.filter((scope) => row.scopes.split(' ').includes(scope)),
    prefix: row.prefix,
    createdAt: new Date(Number(row.created_at)),
    expiresAt: date(row.expires_at),
    revokedAt: date(row.revoked_at),
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
