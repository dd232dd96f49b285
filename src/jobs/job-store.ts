/** Jobs in the database: their owners and results, until they expire. */
import {
  type Database,
  databaseUnavailable,
  isForeignKeyViolation,
  isUniqueViolation,
  type JobTable,
  runQuery,
  type Selectable,
} from '../db/database.ts';

export type JobRow = Selectable<JobTable>;
/** A row without the report, which may be megabytes. */
export type ListedRow = Omit<JobRow, 'body'>;
export type Outcome = 'done' | 'failed';

const listed = [
  'id',
  'holder',
  'owner',
  'idempotency_key',
  'digest',
  'metadata',
  'created_at',
  'expires_at',
  'finished_at',
  'outcome',
] as const;

export type JobOwner = {
  /** `account:ID`, or `token:ID` for a token without an account; stored in the column `holder`. */
  readonly key: string;
  /** Stored in the column `owner`. */
  readonly accountId: string | null;
};

type NewJob = {
  readonly id: string;
  readonly owner: JobOwner;
  readonly idempotencyKey: string | null;
  /** From `digestRequest`; stored only with an idempotency key. */
  readonly digest: string;
  /** From `encryptMetadata`. */
  readonly metadata: string | null;
  readonly expiresAt: number;
};

/** Promises reject with ServiceError `storage_unavailable`. */
export type JobStore = {
  /** `duplicate_key`: another job of the owner has the idempotency key. */
  insert(job: NewJob): Promise<'inserted' | 'duplicate_key' | 'owner_missing'>;
  find(owner: JobOwner, id: string): Promise<JobRow | null>;
  findByKey(owner: JobOwner, idempotencyKey: string): Promise<JobRow | null>;
  /** Up to `count` jobs, newest first, older than `before` unless null. */
  list(owner: JobOwner, before: ListedRow | null, count: number): Promise<ListedRow[]>;
  /** Reads a job of any owner, for workers. */
  read(id: string): Promise<JobRow | null>;
  /** Returns those of `ids` that have not ended. */
  findOpen(ids: readonly string[]): Promise<string[]>;
  /** Returns false when the job has ended or was deleted: one of several workers succeeds. */
  finish(id: string, outcome: Outcome, body: string, expiresAt: number): Promise<boolean>;
  /** Makes the idempotency key available for another job. */
  releaseKey(id: string): Promise<void>;
  delete(id: string): Promise<void>;
  /** Deletes a job that has not ended. Returns false otherwise. */
  cancel(id: string): Promise<boolean>;
  /** Identifies the database. */
  installationId(): Promise<string>;
};

/** @param now milliseconds since 1970 */
export function createJobStore(database: Database, now: () => number = Date.now): JobStore {
  let instance: string | null = null;
  const live = () => database.selectFrom('jobs').selectAll().where('expires_at', '>', now());
  return {
    async insert({ id, owner, idempotencyKey, digest, metadata, expiresAt }) {
      const row = {
        id,
        holder: owner.key,
        owner: owner.accountId,
        idempotency_key: idempotencyKey,
        digest: idempotencyKey === null ? null : digest,
        metadata,
        created_at: now(),
        expires_at: expiresAt,
      };
      try {
        await database.insertInto('jobs').values(row).execute();
        return 'inserted';
      } catch (error) {
        if (isUniqueViolation(error)) return 'duplicate_key';
        if (isForeignKeyViolation(error)) return 'owner_missing';
        throw databaseUnavailable(error);
      }
    },
    find: (owner, id) => first(live().where('holder', '=', owner.key).where('id', '=', id)),
    findByKey: (owner, key) =>
      first(live().where('holder', '=', owner.key).where('idempotency_key', '=', key)),
    async list(owner, before, count) {
      const all = database
        .selectFrom('jobs')
        .select(listed)
        .where('expires_at', '>', now())
        .where('holder', '=', owner.key);
      const older = all.where((is) => {
        if (before === null) return is.lit(true);
        const { created_at, id } = before;
        const same = is.and([is('created_at', '=', created_at), is('id', '<', id)]);
        return is.or([is('created_at', '<', created_at), same]);
      });
      return runQuery(older.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(count).execute());
    },
    read: (id) => first(live().where('id', '=', id)),
    async findOpen(ids) {
      const all = database.selectFrom('jobs').select('id').where('id', 'in', ids);
      const open = all.where('outcome', 'is', null).where('expires_at', '>', now());
      return (await runQuery(open.execute())).map(({ id }) => id);
    },
    async finish(id, outcome, body, expiresAt) {
      const open = database.updateTable('jobs').where('id', '=', id).where('outcome', 'is', null);
      const ended = open.set({ outcome, body, finished_at: now(), expires_at: expiresAt });
      const { numUpdatedRows } = await runQuery(ended.executeTakeFirst());
      return numUpdatedRows > 0n;
    },
    async releaseKey(id) {
      const row = database.updateTable('jobs').where('id', '=', id);
      await runQuery(row.set({ idempotency_key: null, digest: null }).execute());
    },
    async delete(id) {
      await runQuery(database.deleteFrom('jobs').where('id', '=', id).execute());
    },
    async cancel(id) {
      const open = database.deleteFrom('jobs').where('id', '=', id).where('outcome', 'is', null);
      const { numDeletedRows } = await runQuery(open.executeTakeFirst());
      return numDeletedRows > 0n;
    },
    async installationId() {
      const only = () => runQuery(database.selectFrom('installation').select('id').executeTakeFirstOrThrow());
      instance ??= (await only()).id;
      return instance;
    },
  };
}

async function first<Row>(query: { executeTakeFirst(): Promise<Row | undefined> }): Promise<Row | null> {
  return (await runQuery(query.executeTakeFirst())) ?? null;
}
