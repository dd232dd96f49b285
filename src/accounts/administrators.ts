/** Who may see to the tokens that were made on the command line. */
import { type Database, reach } from './storage.ts';

/** Makes the very first account an administrator; of several at one time exactly one. */
export async function claimFirst(database: Database, owner: string): Promise<boolean> {
  const claim = database
    .insertInto('administrators')
    .values({ owner, first: 1 })
    .onConflict((conflict) => conflict.column('first').doNothing());
  const { numInsertedOrUpdatedRows } = await reach(claim.executeTakeFirstOrThrow());
  return numInsertedOrUpdatedRows === 1n;
}

export async function appoint(database: Database, owner: string): Promise<void> {
  const appointment = database
    .insertInto('administrators')
    .values({ owner, first: null })
    .onConflict((conflict) => conflict.column('owner').doNothing());
  await reach(appointment.execute());
}

export async function isAdministrator(database: Database, owner: string): Promise<boolean> {
  const query = database.selectFrom('administrators').select('owner').where('owner', '=', owner);
  return (await reach(query.executeTakeFirst())) !== undefined;
}
