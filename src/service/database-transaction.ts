import type { CompiledQuery, Kysely } from 'kysely';

/** Executes queries in one transaction, up to the first that changes no row. @returns whether each changed one */
export function changeRows<Tables>(
  database: Kysely<Tables>,
  queries: readonly CompiledQuery[],
): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    for (const query of queries) {
      const { numAffectedRows = 0n } = await transaction.executeQuery(query);
      if (numAffectedRows === 0n) return false;
    }
    return true;
  });
}
