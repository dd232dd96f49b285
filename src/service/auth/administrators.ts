/** The first account, whose sign-up is exclusive, and the administrators. */

import { sql } from 'kysely';
import { type Database, runQuery } from '../database.ts';

/** Longer than any sign-up. */
export const maxSignUpMs = 60_000;

/** The exclusive right of a sign-up to create the first account. Expires unless kept or released. */
type FirstAccountClaim = {
  /** Returns false when the claim has expired and another sign-up holds it. */
  keep(owner: string): Promise<boolean>;
  release(): Promise<void>;
};

/** Returns null when an account exists or existed, or while another sign-up holds the claim. */
export async function claimFirstAccount(database: Database): Promise<FirstAccountClaim | null> {
  return claim(database, sql`not exists (select 1 from "account")`);
}

/** Makes an existing account the first one, and an administrator, unless another one is or was. */
export async function keepAsFirst(database: Database, owner: string): Promise<boolean> {
  return (await (await claim(database, sql`true`))?.keep(owner)) ?? false;
}

/** The row with `first` = 1 is the claim. It is permanent once `claimed_at` is null, even if the owner is deleted. */
async function claim(
  database: Database,
  condition: ReturnType<typeof sql>,
): Promise<FirstAccountClaim | null> {
  const at = Date.now();
  const query = sql`insert into administrators (first, claimed_at)
    select 1, cast(${at} as bigint) where ${condition}
    on conflict (first) do update set claimed_at = excluded.claimed_at
    where administrators.claimed_at not between ${at - maxSignUpMs} and ${at + maxSignUpMs}`;
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

/** Whether an account exists or existed. */
export async function hasHadAccounts(database: Database): Promise<boolean> {
  const query = sql`select 1 from administrators where first = 1 and claimed_at is null
    union all select 1 from "account" limit 1`;
  return (await runQuery(query.execute(database))).rows.length > 0;
}

export async function grantAdmin(database: Database, owner: string): Promise<void> {
  const insert = database
    .insertInto('administrators')
    .values({ owner, first: null })
    .onConflict((conflict) => conflict.column('owner').doNothing());
  await runQuery(insert.execute());
}

export async function isAdministrator(database: Database, owner: string): Promise<boolean> {
  const query = database.selectFrom('administrators').select('owner').where('owner', '=', owner);
  return (await runQuery(query.executeTakeFirst())) !== undefined;
}
