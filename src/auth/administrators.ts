/** Which account is the first, and who may see the tokens that were made on the command line. */
import { sql } from 'kysely';
import { type Database, runQuery } from '../db/database.ts';

/** Longer than any sign-up takes. */
export const maxSignUpMs = 60_000;

/** The right to be the first account, held by one sign-up; it expires when that neither keeps nor releases it. */
export type FirstAccountClaim = {
  /** False when it has expired and another sign-up holds it. */
  keep(owner: string): Promise<boolean>;
  release(): Promise<void>;
};

/** Null when there is or was an account, or when another sign-up holds the claim. Of several at one time one gets it. */
export async function claimFirstAccount(database: Database): Promise<FirstAccountClaim | null> {
  return claim(database, sql`not exists (select 1 from "account")`);
}

/** Makes an account that exists the first one, and so an administrator, unless there is or was another. */
export async function keepAsFirst(database: Database, owner: string): Promise<boolean> {
  return (await (await claim(database, sql`true`))?.keep(owner)) ?? false;
}

/** The row whose `first` is 1 is the claim; with `claimed_at` null it is kept for ever, also when its owner is deleted. */
async function claim(
  database: Database,
  condition: ReturnType<typeof sql>,
): Promise<FirstAccountClaim | null> {
  const at = Date.now();
  const query = sql`insert into administrators (first, claimed_at)
    select 1, cast(${at} as bigint) where ${condition}
    on conflict (first) do update set claimed_at = excluded.claimed_at
    where administrators.claimed_at < ${at - maxSignUpMs}`;
  const { numAffectedRows } = await runQuery(query.execute(database));
  if (numAffectedRows !== 1n) return null;
  return {
    async keep(owner) {
      const kept = database
        .updateTable('administrators')
        .set({ owner, claimed_at: null })
        .where('first', '=', 1)
        .where('claimed_at', '=', at);
      return (await runQuery(kept.executeTakeFirstOrThrow())).numUpdatedRows === 1n;
    },
    async release() {
      const released = database
        .deleteFrom('administrators')
        .where('first', '=', 1)
        .where('claimed_at', '=', at);
      await runQuery(released.execute());
    },
  };
}

/** Whether there is or was an account. */
export async function hasHadAccounts(database: Database): Promise<boolean> {
  const query = sql`select 1 from administrators where first = 1 and claimed_at is null
    union all select 1 from "account" limit 1`;
  return (await runQuery(query.execute(database))).rows.length > 0;
}

export async function grantAdmin(database: Database, owner: string): Promise<void> {
  const appointment = database
    .insertInto('administrators')
    .values({ owner, first: null })
    .onConflict((conflict) => conflict.column('owner').doNothing());
  await runQuery(appointment.execute());
}

export async function isAdministrator(database: Database, owner: string): Promise<boolean> {
  const query = database.selectFrom('administrators').select('owner').where('owner', '=', owner);
  return (await runQuery(query.executeTakeFirst())) !== undefined;
}
