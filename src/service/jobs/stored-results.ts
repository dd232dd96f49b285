/** Reads stored results piece by piece: one of hours has megabytes. */
import { Piscina } from 'piscina';
import { entryFile } from '../../node/paths.ts';
import { type Database, databaseKind, databaseUnavailable, sql, sqlitePath } from '../database.ts';
import type { PieceRequest } from './result-thread.ts';

const pieceBytes = 131_072;
/** Of one response: a piece that is read, one that is ready, one that is sent. */
export const bytesPerResponse = 3 * pieceBytes;
/** The thread ends when nothing is read for so long. */
const idleMs = 60_000;

export type StoredResults = ReturnType<typeof openStoredResults>;

type ReadPiece = (request: PieceRequest) => Promise<Uint8Array | null>;

export function openStoredResults(database: Database, url: string) {
  const thread = databaseKind(url) === 'sqlite' ? createThread(sqlitePath(url)) : null;
  const read: ReadPiece =
    thread === null ? (request) => query(database, request) : (request) => thread.run(request);
  return {
    /** The JSON text. @throws ServiceError `storage_unavailable`, also when the job is deleted meanwhile */
    async *pieces(id: string): AsyncGenerator<Uint8Array> {
      for (let from = 0, last = pieceBytes; last === pieceBytes; from += last) {
        const piece = await read({ id, from, bytes: pieceBytes }).catch((cause: unknown) => {
          throw databaseUnavailable(cause);
        });
        if (piece === null) throw databaseUnavailable(new Error('Expected a result, got a deleted job'));
        last = piece.length;
        if (last > 0) yield piece;
      }
    },
    close: async () => thread?.destroy(),
  };
}

function createThread(path: string): Piscina<PieceRequest, Uint8Array | null> {
  return new Piscina({
    filename: entryFile('service/jobs/result-thread'),
    name: 'run',
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleMs,
    workerData: { path },
    recordTiming: false,
  });
}

async function query(database: Database, { id, from, bytes }: PieceRequest): Promise<Uint8Array | null> {
  const piece = sql<Uint8Array>`substring(convert_to(body, 'UTF8') from ${from + 1}::int for ${bytes}::int)`;
  const row = await database
    .selectFrom('jobs')
    .select(piece.as('piece'))
    .where('id', '=', id)
    .where('outcome', '=', 'done')
    .executeTakeFirst();
  return row?.piece ?? null;
}
