/** The rows of API tokens. */
import { type Selectable, sql } from 'kysely';
import {
  type Database,
  databaseUnavailable,
  isForeignKeyViolation,
  isUniqueViolation,
  runQuery,
  type TokenTable,
} from '../database.ts';
import { allScopes, type Scope } from './token-format.ts';

/** The authenticated token of a request. */
export type Principal = {
  readonly id: string;
  readonly name: string;
  readonly owner: Owner;
  readonly scopes: readonly Scope[];
  /** What the scores are for, as declared with the token; null without a declaration. */
  readonly purpose: string | null;
  /** Id of the log-in with which the token ends; null for other tokens. */
  readonly session: string | null;
};

/** Id of an account; null for tokens of the command line. */
export type Owner = string | null;

export type TokenRecord = Principal & {
  readonly prefix: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** To the minute, with a delay of some seconds. */
  readonly lastUsedAt: Date | null;
};

type EndedToken = Pick<TokenRow, 'id' | 'revoked_at'>;
type TokenLabel = Pick<TokenRow, 'name' | 'purpose'>;

/** With the e-mail address of the owner; null for the command line. */
export type ListedToken = TokenRecord & { readonly ownerEmail: string | null };

export type TokenRow = Selectable<TokenTable>;

export type TokenSelector = { readonly key: 'id' | 'name'; readonly value: string; readonly owner?: Owner };

/** Every function throws ServiceError `storage_unavailable`. */
export type TokenTableAccess = {
  find(hash: string): Promise<TokenRow | undefined>;
  insert(row: TokenRow): Promise<'inserted' | 'duplicate_name' | 'owner_missing'>;
  /** Returns the updated row of a live token; session tokens are excluded. */
  revoke(selector: TokenSelector, now: number): Promise<TokenRow | undefined>;
  /** Revokes all live tokens except session tokens. */
  revokeAll(owner: string, now: number): Promise<void>;
  /** Oldest first, of one owner or all, without session tokens. */
  list(owner?: Owner): Promise<ListedToken[]>;
  hasAny(): Promise<boolean>;
  /** Counts up to `max` accounts and up to `max` valid tokens of the command line. */
  countOwners(now: number, max: number): Promise<number>;
  /** Returns those of `ids` that were revoked or have expired; session tokens are excluded. */
  findEnded(ids: readonly string[], now: number): Promise<EndedToken[]>;
  /** Returns those of `sessions` that have not ended. */
  findSessions(sessions: readonly string[]): Promise<string[]>;
  /** Returns those of `owners` that have an account. */
  findOwners(owners: readonly string[]): Promise<string[]>;
  /** Names and purposes of those of `ids` that exist, by id. */
  findLabels(ids: readonly string[]): Promise<ReadonlyMap<string, TokenLabel>>;
  /** E-mail addresses of those of `owners` that have an account, by owner. */
  findEmails(owners: readonly string[]): Promise<ReadonlyMap<string, string>>;
};

const ownedBy = (owner: Owner) => sql<boolean>`coalesce(owner, '') = ${owner ?? ''}`;

export function tokenTable(database: Database): TokenTableAccess {
  return {
    find: (hash) =>
      runQuery(database.selectFrom('tokens').selectAll().where('hash', '=', hash).executeTakeFirst()),
    async insert(row) {
      try {
        await database.insertInto('tokens').values(row).execute();
        return 'inserted';
      } catch (error) {
        if (isUniqueViolation(error)) return 'duplicate_name';
        if (isForeignKeyViolation(error)) return 'owner_missing';
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
    async countOwners(now, max) {
      const accounts = database.selectFrom('user').select('id').limit(max);
      const operatorTokens = database
        .selectFrom('tokens')
        .select('id')
        .where('owner', 'is', null)
        .where('revoked_at', 'is', null)
        .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
        .limit(max);
      const rows = await Promise.all([runQuery(accounts.execute()), runQuery(operatorTokens.execute())]);
      return rows.flat().length;
    },
    findEnded: (ids, now) => {
      const ended = database
        .selectFrom('tokens')
        .select(['id', 'revoked_at'])
        .where('session', 'is', null)
        .where((row) => row.or([row('revoked_at', 'is not', null), row('expires_at', '<=', now)]));
      return findRows(ids, (some) => ended.where('id', 'in', some));
    },
    findSessions: (ids) =>
      findIds(ids, (some) => database.selectFrom('session').select('id').where('id', 'in', some)),
    findOwners: (ids) =>
      findIds(ids, (some) => database.selectFrom('user').select('id').where('id', 'in', some)),
    async findLabels(ids) {
      const labels = database.selectFrom('tokens').select(['id', 'name', 'purpose']);
      const rows = await findRows(ids, (some) => labels.where('id', 'in', some));
      return new Map(rows.map(({ id, ...label }) => [id, label]));
    },
    async findEmails(owners) {
      const emails = database.selectFrom('user').select(['id', 'email']);
      const rows = await findRows(owners, (some) => emails.where('id', 'in', some));
      return new Map(rows.map(({ id, email }) => [id, email]));
    },
  };
}

/** Databases limit the parameters of a query. */
const maxParameters = 1000;

/** @param queryOf the query for some of `wanted`, at most `maxParameters` */
async function findRows<Row>(
  wanted: readonly string[],
  queryOf: (some: readonly string[]) => { execute(): Promise<readonly Row[]> },
): Promise<Row[]> {
  const found: Row[] = [];
  for (let at = 0; at < wanted.length; at += maxParameters) {
    found.push(...(await runQuery(queryOf(wanted.slice(at, at + maxParameters)).execute())));
  }
  return found;
}

async function findIds(...query: Parameters<typeof findRows<{ readonly id: string }>>): Promise<string[]> {
  return (await findRows(...query)).map(({ id }) => id);
}

/** PostgreSQL returns 64-bit integers as text. */
export function toRecord(row: TokenRow): TokenRecord {
  const date = (time: number | null) => (time === null ? null : new Date(Number(time)));
  return {
    id: row.id,
    name: row.name,
    owner: row.owner,
    session: row.session,
    scopes: allScopes.filter((scope) => row.scopes.split(' ').includes(scope)),
    purpose: row.purpose,
    prefix: row.prefix,
    createdAt: new Date(Number(row.created_at)),
    expiresAt: date(row.expires_at),
    revokedAt: date(row.revoked_at),
    lastUsedAt: date(row.last_used_at),
  };
}
