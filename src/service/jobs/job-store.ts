/** Jobs in the database: their owners and results, until they expire. */
import {
  type Database,
  databaseUnavailable,
  isForeignKeyViolation,
  isUniqueViolation,
  type JobTable,
  runQuery,
  type Selectable,
} from '../database.ts';

/** A row without the error. */
export type ListedRow = Omit<Selectable<JobTable>, 'body'>;
export type JobRow = Selectable<JobTable>;

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
  'bytes',
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

export type JobStore = ReturnType<typeof createJobStore>;

/** Promises reject with ServiceError `storage_unavailable`. @param now milliseconds since 1970 */
export function createJobStore(database: Database, now: () => number = Date.now) {
  let instance: string | null = null;
  /** Jobs that have not ended do not expire. */
  const live = () =>
    database
      .selectFrom('jobs')
      .where((row) => row.or([row('outcome', 'is', null), row('expires_at', '>', now())]));
  const rows = () => live().selectAll();
  return {
    /** `duplicate_key`: another job of the owner has the idempotency key. */
    async insert(job: NewJob): Promise<'inserted' | 'duplicate_key' | 'owner_missing'> {
      const { id, owner, idempotencyKey, digest, metadata, expiresAt } = job;
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
    find: (owner: JobOwner, id: string): Promise<JobRow | null> =>
      first(rows().where('holder', '=', owner.key).where('id', '=', id)),
    findByKey: (owner: JobOwner, key: string): Promise<JobRow | null> =>
      first(rows().where('holder', '=', owner.key).where('idempotency_key', '=', key)),
    /** Up to `count` jobs, newest first, older than `before` unless null. */
    async list(owner: JobOwner, before: ListedRow | null, count: number): Promise<ListedRow[]> {
      const all = live().select(listed).where('holder', '=', owner.key);
      const older = all.where((is) => {
        if (before === null) return is.lit(true);
        const { created_at, id } = before;
        const same = is.and([is('created_at', '=', created_at), is('id', '<', id)]);
        return is.or([is('created_at', '<', created_at), same]);
      });
      return runQuery(older.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(count).execute());
    },
    /** Reads a job of any owner, for workers. */
    read: (id: string): Promise<JobRow | null> => first(rows().where('id', '=', id)),
    /** Returns those of `ids` that have not ended. */
    async findOpen(ids: readonly string[]): Promise<string[]> {
      const all = database.selectFrom('jobs').select('id').where('id', 'in', ids);
      return (await runQuery(all.where('outcome', 'is', null).execute())).map(({ id }) => id);
    },
    /**
     * Ends a job with an error, as JSON. `StoredResults.store` ends one with a report.
     * @returns false when the job has ended or was deleted: one of several workers succeeds
     */
    async fail(id: string, body: string, expiresAt: number): Promise<boolean> {
      const open = database.updateTable('jobs').where('id', '=', id).where('outcome', 'is', null);
      const bytes = Buffer.byteLength(body);
      const ended = open.set({ outcome: 'failed', body, bytes, finished_at: now(), expires_at: expiresAt });
      const { numUpdatedRows } = await runQuery(ended.executeTakeFirst());
      return numUpdatedRows > 0n;
    },
    /** Makes the idempotency key available for another job. */
    async releaseKey(id: string): Promise<void> {
      const row = database.updateTable('jobs').where('id', '=', id);
      await runQuery(row.set({ idempotency_key: null, digest: null }).execute());
    },
    async delete(id: string): Promise<void> {
      await runQuery(database.deleteFrom('jobs').where('id', '=', id).execute());
    },
    /** Deletes a job that has not ended. Returns false otherwise. */
    async cancel(id: string): Promise<boolean> {
      const open = database.deleteFrom('jobs').where('id', '=', id).where('outcome', 'is', null);
      const { numDeletedRows } = await runQuery(open.executeTakeFirst());
      return numDeletedRows > 0n;
    },
    /** Counts the jobs of the owner, with the bytes of their results. */
    async countKept({ key }: JobOwner): Promise<{ readonly jobs: number; readonly bytes: number }> {
      const { countAll, sum } = database.fn;
      const kept = database.selectFrom('jobs').where('holder', '=', key);
      const row = await first(kept.select([countAll().as('jobs'), sum('bytes').as('bytes')]));
      return { jobs: Number(row?.jobs), bytes: Number(row?.bytes) };
    },
    /** Identifies the database. */
    async installationId(): Promise<string> {
      const only = () => runQuery(database.selectFrom('installation').select('id').executeTakeFirstOrThrow());
      instance ??= (await only()).id;
      return instance;
    },
  };
}

async function first<Row>(query: { executeTakeFirst(): Promise<Row | undefined> }): Promise<Row | null> {
  return (await runQuery(query.executeTakeFirst())) ?? null;
}
