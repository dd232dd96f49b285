/** API tokens: made, listed, revoked and verified. Only SHA-256 hashes are stored, in the database and in memory. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { type Database, runQuery, type WriteFailures } from '../database.ts';
import {
  allScopes,
  checkTokenInput,
  createTokenSecret,
  idPrefix,
  isToken,
  randomBase62,
  scopes,
  TokenError,
  type TokenInput,
} from './token-format.ts';
import {
  type ListedToken,
  type Owner,
  type Principal,
  type TokenRecord,
  type TokenRow,
  type TokenSelector,
  type TokenTableAccess,
  tokenTable,
  toRecord,
} from './token-table.ts';
import { createDelayedWrite } from './usage.ts';

export { type Scope, scopeOf, scopes, TokenError, type TokenInput } from './token-format.ts';
export type { ListedToken, Owner, Principal, TokenRecord } from './token-table.ts';

/** The token itself is never available again. */
export type NewToken = { readonly token: string; readonly record: TokenRecord };

type EndedPrincipals = { readonly revoked: readonly Principal[]; readonly expired: readonly Principal[] };

export type Tokens = ReturnType<typeof createTokens>;

const idLength = 12;
const sessionTokenMs = 15 * 60_000;
const sessionTokenName = 'playground';

export function createTokens(options: {
  readonly database: Database;
  /** UNDERTONE_TOKEN; has the scopes of analyses. */
  readonly staticToken: string | null;
  /** ms since 1970 */
  readonly now?: () => number;
  readonly failures?: WriteFailures;
}) {
  const { database, staticToken, now = Date.now, failures } = options;
  const table = tokenTable(database);
  const lastUsed = createLastUsed(database, now, failures);
  const { verify, forget } = createVerifier({ table, staticToken, now, onUse: lastUsed.mark });

  async function createNamed(request: TokenInput, owner: Owner): Promise<NewToken | null> {
    checkTokenInput(request, now());
    const { token, row } = issue(request, { owner, session: null, now: now() });
    const outcome = await table.insert(row);
    if (outcome === 'duplicate_name') throw new TokenError('an unused name', 'name', request.name, true);
    return outcome === 'inserted' ? { token, record: toRecord(row) } : null;
  }

  const forgetOwner = (owner: string) => forget((record) => record.owner === owner);

  async function revoke(selector: TokenSelector): Promise<TokenRecord | null> {
    const row = await table.revoke(selector, now());
    if (row === undefined) return null;
    forget((record) => record.id === row.id);
    return toRecord(row);
  }

  return {
    verify,
    /** Returns null when the account was deleted. @throws TokenError */
    createFor: (owner: string, request: TokenInput) => createNamed(request, owner),
    /** Creates a token of the command line. @throws TokenError */
    create: async (request: TokenInput) => (await createNamed(request, null)) as NewToken,
    /** Creates a token with the scopes of analyses that ends with the session and is never listed. Returns null after its end. */
    async createForSession({ id, owner }: { readonly id: string; readonly owner: string }) {
      const expiresAt = new Date(now() + sessionTokenMs);
      const request = { name: sessionTokenName, scopes, expiresAt, purpose: null };
      const { token, row } = issue(request, { owner, session: id, now: now() });
      return (await table.insert(row)) === 'inserted' ? { token, record: toRecord(row) } : null;
    },
    /** Oldest first, of one owner or all, with expired and revoked tokens but without session tokens. */
    async list(owner?: Owner): Promise<ListedToken[]> {
      await lastUsed.flush();
      return table.list(owner);
    },
    /** Selects by id, or by name among the tokens of the command line. Returns null without a live token. */
    revoke(idOrName: string): Promise<TokenRecord | null> {
      const isId = idOrName.startsWith(idPrefix);
      return revoke(isId ? { key: 'id', value: idOrName } : { key: 'name', value: idOrName, owner: null });
    },
    /** Returns null unless the owner has a live token with this id. */
    revokeOf: (owner: Owner, id: string) => revoke({ key: 'id', value: id, owner }),
    /** Revokes every token of the account. */
    async revokeAllOf(owner: string): Promise<void> {
      await table.revokeAll(owner, now());
      forgetOwner(owner);
    },
    /** Called when tokens of the owner may have ended with a session or the account. */
    forget: forgetOwner,
    /**
     * `revoked`: those that were revoked, or whose account or log-in has ended. `expired`: other tokens after their expiry,
     * without session tokens. @throws ServiceError `storage_unavailable`
     */
    async findEnded(principals: readonly Principal[]): Promise<EndedPrincipals> {
      const unique = (values: readonly (string | null)[]) =>
        [...new Set(values)].filter((value) => value !== null);
      const ended = await table.findEnded(unique(principals.map(({ id }) => id)), now());
      const isRevoked = new Map(ended.map(({ id, revoked_at }) => [id, revoked_at !== null]));
      const owners = new Set(await table.findOwners(unique(principals.map(({ owner }) => owner))));
      const sessions = new Set(await table.findSessions(unique(principals.map(({ session }) => session))));
      const revoked = principals.filter(
        ({ id, owner, session }) =>
          isRevoked.get(id) ||
          (owner !== null && !owners.has(owner)) ||
          (session !== null && !sessions.has(session)),
      );
      return { revoked, expired: principals.filter(({ id }) => isRevoked.get(id) === false) };
    },
    /** Whether there is more than one owner: accounts, and valid tokens of the command line. @throws ServiceError `storage_unavailable` */
    hasSeveralOwners: async () => (await table.countOwners(now(), 2)) + (staticToken === null ? 0 : 1) > 1,
    /** Whether a token was ever created. */
    hasAny: table.hasAny,
    /** Writes the last use of tokens. @throws ServiceError `storage_unavailable` */
    flush: lastUsed.flush,
  };
}

function issue(
  request: TokenInput,
  { owner, session, now }: { owner: Owner; session: string | null; now: number },
): { readonly token: string; readonly row: TokenRow } {
  const token = createTokenSecret();
  const row = {
    id: idPrefix + randomBase62(idLength),
    name: request.name,
    prefix: token.slice(0, 7),
    hash: sha256(token).toString('hex'),
    scopes: allScopes.filter((scope) => request.scopes.includes(scope)).join(' '),
    created_at: now,
    expires_at: request.expiresAt?.getTime() ?? null,
    revoked_at: null,
    owner,
    session,
    last_used_at: null,
    purpose: request.purpose,
  };
  return { token, row };
}

// Last use of tokens to the minute, written in batches every few seconds.

const minuteMs = 60_000;
/** A later use than this is of a clock that was ahead. */
const maxAheadMs = 60 * minuteMs;
const rowsPerStatement = 500;

/** @param now ms since 1970 */
export function createLastUsed(database: Database, now: () => number, failures?: WriteFailures) {
  let unwritten = new Map<string, number>();
  let minute = 0;
  const seenThisMinute = new Set<string>();

  function mark(id: string): void {
    const time = now();
    if (time - (time % minuteMs) !== minute) {
      minute = time - (time % minuteMs);
      seenThisMinute.clear();
    }
    if (seenThisMinute.has(id)) return;
    seenThisMinute.add(id);
    unwritten.set(id, minute);
    delayed.schedule();
  }

  async function writeAll(): Promise<void> {
    const marks = unwritten;
    unwritten = new Map();
    try {
      for (const time of new Set(marks.values())) {
        const ids = [...marks.keys()].filter((id) => marks.get(id) === time).sort();
        for (let from = 0; from < ids.length; from += rowsPerStatement) {
          await write(ids.slice(from, from + rowsPerStatement), time);
        }
      }
    } catch (error) {
      for (const [id, time] of marks) if (!unwritten.has(id)) unwritten.set(id, time);
      throw error;
    }
  }

  /** Keeps a later minute that another process has written, unless its clock was ahead. */
  async function write(ids: readonly string[], time: number): Promise<void> {
    const update = database
      .updateTable('tokens')
      .set({ last_used_at: time })
      .where('id', 'in', ids)
      .where((row) =>
        row.or([
          row('last_used_at', 'is', null),
          row('last_used_at', '<', time),
          row('last_used_at', '>', now() + maxAheadMs),
        ]),
      );
    await runQuery(update.execute());
  }

  const delayed = createDelayedWrite(
    writeAll,
    failures && ((attempt) => failures.observe('last_used', attempt)),
  );
  /** `flush` keeps what could not be written. @throws ServiceError `storage_unavailable` */
  return { mark, flush: delayed.flush };
}

// Verifies tokens, with caches that save most database queries.

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

function createVerifier(options: {
  readonly table: TokenTableAccess;
  readonly staticToken: string | null;
  readonly now: () => number;
  /** Called with the id of every accepted token. */
  readonly onUse: (id: string) => void;
}) {
  const { table, now, onUse } = options;
  const staticHash = options.staticToken === null ? null : sha256(options.staticToken);
  const accepted = createCache<TokenRecord>({ size: cacheSize, lifetimeMs: acceptedForMs, now });
  const trusted = createCache<TokenRecord>({ size: cacheSize, lifetimeMs: trustedForMs, now });
  const refused = createCache<true>({ size: cacheSize, lifetimeMs: refusedForMs, now });
  const pending = new Map<string, Promise<TokenRecord | null>>();
  let revocations = 0;

  const isLive = ({ revokedAt, expiresAt }: TokenRecord) =>
    revokedAt === null && (expiresAt === null || expiresAt.getTime() > now());

  /** Returns null for an unknown, expired or revoked token. @throws ServiceError `storage_unavailable` */
  async function verify(token: string): Promise<Principal | null> {
    const hash = sha256(token);
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

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A bounded cache with a time to live, which evicts the oldest entry. */
export function createCache<Value>(options: {
  readonly size: number;
  readonly lifetimeMs: number;
  readonly now: () => number;
}) {
  const entries = new Map<string, { readonly value: Value; readonly at: number }>();
  return {
    get(key: string): Value | undefined {
      const entry = entries.get(key);
      const age = entry === undefined ? 0 : options.now() - entry.at;
      // A negative age means that the clock was set back: the entry would never expire.
      if (entry === undefined || (age >= 0 && age < options.lifetimeMs)) return entry?.value;
      entries.delete(key);
      return undefined;
    },
    set(key: string, value: Value): void {
      entries.delete(key);
      if (entries.size >= options.size) entries.delete(entries.keys().next().value as string);
      entries.set(key, { value, at: options.now() });
    },
    delete: (key: string) => void entries.delete(key),
    deleteWhere(matches: (value: Value) => boolean): void {
      for (const [key, { value }] of entries) if (matches(value)) entries.delete(key);
    },
  };
}
