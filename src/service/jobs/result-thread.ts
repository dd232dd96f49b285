/** Entry file of the thread that reads results from the embedded database: the driver blocks the thread that calls it. */
import { workerData } from 'node:worker_threads';
import Libsql from 'libsql';

const database = new Libsql((workerData as { readonly path: string }).path);
database.exec('pragma query_only = on');
const statement = database.prepare(
  "select substr(cast(body as blob), ?, ?) as piece from jobs where id = ? and outcome = 'done'",
);

export type PieceRequest = { readonly id: string; readonly from: number; readonly bytes: number };

/** @returns null for a job that is gone */
export function run({ id, from, bytes }: PieceRequest): Uint8Array | null {
  const row = statement.get(from + 1, bytes, id) as { readonly piece: Uint8Array } | undefined;
  return row?.piece ?? null;
}
