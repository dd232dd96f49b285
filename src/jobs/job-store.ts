/** What is known of jobs: whose they are and how they ended, in the database, for as long as the operator says. */
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
/** A row without its report, which may be megabytes. */
export type ListedRow = Omit<JobRow, 'body'>;
export type Outcome = 'done' | 'failed';

const listed = [
  'id',
  'holder',
  'owner',
  'idempotency_key',
  'digest',
  'created_at',
  'expires_at',
  'finished_at',
  'outcome',
] as const;

/** Who a job belongs to: an account, or a token that belongs to none. */
export type JobOwner = { readonly name: string; readonly account: string | null };

export type NewJob = {
  readonly id: string;
  readonly owner: JobOwner;
  readonly idempotencyKey: string | null;
  /** Keyed digest of the request; kept beside its idempotency key alone. */
  readonly digest: string;
  readonly expiresAt: number;
};

/** Every function throws Failure `storage_unavailable` when the database cannot be used. */
export type JobStore = {
  /** `taken`: another job of this holder has the idempotency key. */
  insert(job: NewJob): Promise<'done' | 'taken' | 'owner gone'>;
  find(holder: JobOwner, id: string): Promise<JobRow | null>;
  findByKey(holder: JobOwner, idempotencyKey: string): Promise<JobRow | null>;
  /** Up to `count` jobs of a holder, newest first: those that are older than `before`, where it is not null. */
  list(holder: JobOwner, before: ListedRow | null, count: number): Promise<ListedRow[]>;
  /** For workers, which serve everybody. */
  read(id: string): Promise<JobRow | null>;
  /** False when it has ended already, or is gone: of several workers one ends a job. */
  finish(id: string, outcome: Outcome, body: string, expiresAt: number): Promise<boolean>;
  /** The idempotency key may be used for another job. */
  releaseKey(id: string): Promise<void>;
  delete(id: string): Promise<void>;
  /** Removes a job that has not ended; false when it has, or is gone. */
  cancel(id: string): Promise<boolean>;
  sweep(): Promise<void>;
  /** Which database this is. */
  instanceId(): Promise<string>;
};

/** @param now milliseconds since 1970 */
export function createJobStore(database: Database, now: () => number = Date.now): JobStore {
  let installation: string | null = null;
  const live = () => database.selectFrom('jobs').selectAll().where('expires_at', '>', now());
  return {
    async insert({ id, owner, idempotencyKey, digest, expiresAt }) {
      const row = {
        id,
        holder: owner.name,
        owner: owner.account,
        idempotency_key: idempotencyKey,
        digest: idempotencyKey === null ? null : digest,
        created_at: now(),
        expires_at: expiresAt,
      };
      try {
        await database.insertInto('jobs').values(row).execute();
        return 'done';
      } catch (error) {
        if (isUniqueViolation(error)) return 'taken';
        if (isForeignKeyViolation(error)) return 'owner gone';
        throw databaseUnavailable(error);
      }
    },
    find: (holder, id) => first(live().where('holder', '=', holder.name).where('id', '=', id)),
    findByKey: (holder, key) =>
      first(live().where('holder', '=', holder.name).where('idempotency_key', '=', key)),
    async list(holder, before, count) {
      const all = database
        .selectFrom('jobs')
        .select(listed)
        .where('expires_at', '>', now())
        .where('holder', '=', holder.name);
      const older = all.where((is) => {
        if (before === null) return is.lit(true);
        const { created_at, id } = before;
        const same = is.and([is('created_at', '=', created_at), is('id', '<', id)]);
        return is.or([is('created_at', '<', created_at), same]);
      });
      return runQuery(older.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(count).execute());
    },
    read: (id) => first(live().where('id', '=', id)),
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
    async sweep() {
      await runQuery(database.deleteFrom('jobs').where('expires_at', '<=', now()).execute());
    },
    async instanceId() {
      const only = () => runQuery(database.selectFrom('installation').select('id').executeTakeFirstOrThrow());
      installation ??= (await only()).id;
      return installation;
    },
  };
}

async function first<Row>(query: { executeTakeFirst(): Promise<Row | undefined> }): Promise<Row | null> {
  return (await runQuery(query.executeTakeFirst())) ?? null;
}
