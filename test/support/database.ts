/** Both databases, for tests that must hold on either. */
import { join } from 'node:path';
import { postgres } from '../../deploy/fleet/postgres.ts';
import type { DatabaseKind } from '../../src/service/migrations.ts';
import { makeFolder } from './folder.ts';

export const databaseKinds: readonly DatabaseKind[] = ['sqlite', 'postgres'];

/** The address of an empty one. */
export async function makeDatabaseUrl(kind: DatabaseKind): Promise<string> {
  return kind === 'postgres' ? postgres().makeUrl() : `file:${join(makeFolder(), 'undertone.db')}`;
}
