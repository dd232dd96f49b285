/** Who may sign up and log in: the first account and administrators, e-mail addresses and passwords, and the errors. */
import { sql } from 'kysely';
import { z } from 'zod';
import { type Database, runQuery } from '../database.ts';
import { ServiceError } from '../errors.ts';

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

// E-mail addresses and passwords: their schemas, and the errors of account operations.

export type Credentials = { readonly email: string; readonly password: string };

// Messages of the schemas are expectations: `Expected ... for`.

/** In UTF-16 units. */
export const passwordLength = { min: 10, max: 128 } as const;
const maxEmailLength = 254;

const { min, max } = passwordLength;
const lengths = `${min} to ${max} characters`;

export const email = z
  .email({ error: 'an e-mail address' })
  .max(maxEmailLength, { error: 'an e-mail address' });
export const newPassword = z
  .string({ error: lengths })
  .min(min, { error: lengths })
  .max(max, { error: lengths });
/** Compared with the current password, whatever its length. */
export const givenPassword = z
  .string({ error: 'a password' })
  .min(1, { error: 'a password' })
  .max(max, { error: 'a password' });

// Errors of account operations.

const sentences = {
  taken: 'Expected an address without an account for `email`, got one that has an account',
  unknown: 'Expected the address and password of an account, got others',
} as const;

/** `taken`: the address has an account. `unknown`: no account has this address and password. */
export class UserError extends Error {
  readonly reason: keyof typeof sentences;

  constructor(reason: keyof typeof sentences) {
    super(sentences[reason]);
    this.reason = reason;
  }
}

export function notLoggedIn(): ServiceError {
  return new ServiceError('unauthenticated', 'Expected a session for `Cookie`, got none: log in first');
}
