/** The rows of API tokens. */
import { type Selectable, sql } from 'kysely';
import {
  type Database,
  databaseUnavailable,
  isForeignKeyViolation,
  isUniqueViolation,
  runQuery,
  type TokenTable,
} from '../db/database.ts';
import { type Scope, scopes } from './token-input.ts';

/** Who a token belongs to, as a request sees it. */
export type Principal = {
  readonly id: string;
  readonly name: string;
  readonly owner: Owner;
  readonly scopes: readonly Scope[];
};

/** An account's id; null: the operator, whose tokens are made on the command line. */
export type Owner = string | null;

export type TokenRecord = Principal & {
  readonly prefix: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** To the minute, some seconds late. */
  readonly lastUsedAt: Date | null;
};

/** With the address of the account that made it; null: the operator. */
export type ListedToken = TokenRecord & { readonly ownerEmail: string | null };

export type TokenRow = Selectable<TokenTable>;

export type TokenSelector = { readonly key: 'id' | 'name'; readonly value: string; readonly owner?: Owner };

/** Every function throws Failure `storage_unavailable` when the database cannot be used. */
export type TokenTableAccess = {
  find(hash: string): Promise<TokenRow | undefined>;
  insert(row: TokenRow): Promise<'done' | 'name taken' | 'owner gone'>;
  /** The row as it is now, if it was live and was asked for by name. */
  revoke(which: TokenSelector, now: number): Promise<TokenRow | undefined>;
  /** Revokes all that were asked for by name. */
  revokeAll(owner: string, now: number): Promise<void>;
  /** Those that were asked for by name, oldest first; of one owner, or all. */
  list(owner?: Owner): Promise<ListedToken[]>;
  hasAny(): Promise<boolean>;
  /** Removes the expired ones of browsers. */
  sweep(now: number): Promise<void>;
};

const ownedBy = (owner: Owner) => sql<boolean>`coalesce(owner, '') = ${owner ?? ''}`;

export function tokenTable(database: Database): TokenTableAccess {
  return {
    find: (hash) =>
      runQuery(database.selectFrom('tokens').selectAll().where('hash', '=', hash).executeTakeFirst()),
    async insert(row) {
      try {
        await database.insertInto('tokens').values(row).execute();
        return 'done';
      } catch (error) {
        if (isUniqueViolation(error)) return 'name taken';
        if (isForeignKeyViolation(error)) return 'owner gone';
        throw databaseUnavailable(error);
      }
    },
    revoke({ key, value, owner }, now) {
      const live = database
        .updateTable('tokens')
        .set({ revoked_at: now })
        .where(key, '=', value)
        .where('revoked_at', 'is', null)
        .where('session', 'is', null);
      const owned = owner === undefined ? live : live.where(ownedBy(owner));
      return runQuery(owned.returningAll().executeTakeFirst());
    },
    async revokeAll(owner, now) {
      const live = database
        .updateTable('tokens')
        .set({ revoked_at: now })
        .where('owner', '=', owner)
        .where('revoked_at', 'is', null)
        .where('session', 'is', null);
      await runQuery(live.execute());
    },
    async list(owner) {
      const all = database
        .selectFrom('tokens')
        .leftJoin('user', 'user.id', 'tokens.owner')
        .selectAll('tokens')
        .select('user.email')
        .where('tokens.session', 'is', null)
        .orderBy('tokens.created_at')
        .orderBy('tokens.id');
      const rows = await runQuery((owner === undefined ? all : all.where(ownedBy(owner))).execute());
      return rows.map((row) => ({ ...toRecord(row), ownerEmail: row.email }));
    },
    async hasAny() {
      const query = database.selectFrom('tokens').select('id').where('session', 'is', null);
      return (await runQuery(query.executeTakeFirst())) !== undefined;
    },
    async sweep(now) {
      const old = database.deleteFrom('tokens').where('session', 'is not', null);
      await runQuery(old.where('expires_at', '<', now).execute());
    },
  };
}

/** PostgreSQL tells its 64-bit integers as text. */
export function toRecord(row: TokenRow): TokenRecord {
  const date = (time: number | null) => (time === null ? null : new Date(Number(time)));
  return {
    id: row.id,
    name: row.name,
    owner: row.owner,
    scopes: scopes.filter((scope) => row.scopes.split(' ').includes(scope)),
    prefix: row.prefix,
    createdAt: new Date(Number(row.created_at)),
    expiresAt: date(row.expires_at),
    revokedAt: date(row.revoked_at),
    lastUsedAt: date(row.last_used_at),
  };
}
