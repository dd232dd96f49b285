/** What is known of jobs: whose they are and how they ended, in the database, for as long as the operator says. */
import {
  type Database,
  isDuplicate,
  isOrphan,
  type JobTable,
  reach,
  type Selectable,
  unavailable,
} from '../accounts/storage.ts';

export type JobRow = Selectable<JobTable>;
export type Outcome = 'done' | 'failed';

/** Who a job belongs to: an account, or a token that belongs to none. */
export type Holder = { readonly name: string; readonly owner: string | null };

export type NewJob = {
  readonly id: string;
  readonly holder: Holder;
  readonly idempotencyKey: string | null;
  readonly expiresAt: number;
};

/** Every function throws Failure `storage_unavailable` when the database cannot be used. */
export type JobStore = {
  /** `taken`: another job of this holder has the idempotency key. */
  insert(job: NewJob): Promise<'done' | 'taken' | 'owner gone'>;
  find(holder: Holder, id: string): Promise<JobRow | null>;
  findByKey(holder: Holder, idempotencyKey: string): Promise<JobRow | null>;
  /** For workers, which serve everybody. */
  read(id: string): Promise<JobRow | null>;
  /** False when it has ended already, or is gone: of several workers one ends a job. */
  finish(id: string, outcome: Outcome, body: string, expiresAt: number): Promise<boolean>;
  /** The idempotency key may be used for another job. */
  releaseKey(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  sweep(): Promise<void>;
  /** Which database this is. */
  installation(): Promise<string>;
};

/** @param now milliseconds since 1970 */
export function createJobStore(database: Database, now: () => number = Date.now): JobStore {
  let installation: string | null = null;
  const live = () => database.selectFrom('jobs').selectAll().where('expires_at', '>', now());
  return {
    async insert({ id, holder, idempotencyKey, expiresAt }) {
      const row = {
        id,
        holder: holder.name,
        owner: holder.owner,
        idempotency_key: idempotencyKey,
        created_at: now(),
        expires_at: expiresAt,
      };
      try {
        await database.insertInto('jobs').values(row).execute();
        return 'done';
      } catch (error) {
        if (isDuplicate(error)) return 'taken';
        if (isOrphan(error)) return 'owner gone';
        throw unavailable(error);
      }
    },
    find: (holder, id) => first(live().where('holder', '=', holder.name).where('id', '=', id)),
    findByKey: (holder, key) =>
      first(live().where('holder', '=', holder.name).where('idempotency_key', '=', key)),
    read: (id) => first(live().where('id', '=', id)),
    async finish(id, outcome, body, expiresAt) {
      const open = database.updateTable('jobs').where('id', '=', id).where('outcome', 'is', null);
      const ended = open.set({ outcome, body, finished_at: now(), expires_at: expiresAt });
      const { numUpdatedRows } = await reach(ended.executeTakeFirst());
      return numUpdatedRows > 0n;
    },
    async releaseKey(id) {
      const row = database.updateTable('jobs').where('id', '=', id);
      await reach(row.set({ idempotency_key: null }).execute());
    },
    async remove(id) {
      await reach(database.deleteFrom('jobs').where('id', '=', id).execute());
    },
    async sweep() {
      await reach(database.deleteFrom('jobs').where('expires_at', '<=', now()).execute());
    },
    async installation() {
      const only = () => reach(database.selectFrom('installation').select('id').executeTakeFirstOrThrow());
      installation ??= (await only()).id;
      return installation;
    },
  };
}

async function first<Row>(query: { executeTakeFirst(): Promise<Row | undefined> }): Promise<Row | null> {
  return (await reach(query.executeTakeFirst())) ?? null;
}
