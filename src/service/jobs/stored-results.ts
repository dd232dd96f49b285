/** Writes and reads the results of jobs: one of hours has megabytes. */
import { Piscina } from 'piscina';
import { entryFile } from '../../node/paths.ts';
import {
  type CompiledQuery,
  type Database,
  databaseKind,
  databaseUnavailable,
  type QueryResult,
  runQuery,
  sql,
  sqlitePath,
} from '../database.ts';
import type { Statement } from '../sqlite.ts';

const pieceBytes = 131_072;
/** Of one response: a piece that is read, one that is ready, one that is sent. */
export const bytesPerResponse = 3 * pieceBytes;
/** The thread ends when nothing is read or written for so long. */
const idleMs = 60_000;

export type StoredResults = ReturnType<typeof openStoredResults>;

/** Promises reject with ServiceError `storage_unavailable`. */
export function openStoredResults(database: Database, url: string) {
  const thread = databaseKind(url) === 'sqlite' ? createThread(sqlitePath(url)) : null;
  function execute<Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>> {
    const { sql, parameters } = query;
    return runQuery(thread === null ? database.executeQuery(query) : thread.run({ sql, parameters }));
  }
  const toText = (json: Uint8Array) =>
    thread === null ? sql<string>`convert_from(${json}, 'UTF8')` : sql<string>`cast(${json} as text)`;
  const pieceAt = (from: number) =>
    thread === null
      ? sql<
          Buffer | ArrayBuffer
        >`substring(convert_to(body, 'UTF8') from ${from + 1}::int for ${pieceBytes}::int)`
      : sql<Buffer | ArrayBuffer>`substr(cast(body as blob), ${from + 1}, ${pieceBytes})`;
  return {
    /**
     * Ends a job with its report. Times are ms since 1970.
     * @param json UTF-8
     * @returns false when the job has ended or was deleted: one of several workers succeeds
     */
    async store(id: string, json: Uint8Array, finishedAt: number, expiresAt: number): Promise<boolean> {
      const bytes = json.length;
      const ended = database
        .updateTable('jobs')
        .set({ outcome: 'done', body: toText(json), bytes, finished_at: finishedAt, expires_at: expiresAt })
        .where('id', '=', id)
        .where('outcome', 'is', null);
      const { numAffectedRows = 0n } = await execute(ended.compile());
      return numAffectedRows > 0n;
    },
    /** The JSON text. Also rejects when the job is deleted meanwhile. */
    async *pieces(id: string): AsyncGenerator<Uint8Array> {
      for (let from = 0, last = pieceBytes; last === pieceBytes; from += last) {
        const done = database.selectFrom('jobs').where('id', '=', id).where('outcome', '=', 'done');
        const { rows } = await execute(done.select(pieceAt(from).as('piece')).compile());
        const [row] = rows;
        if (row === undefined) throw databaseUnavailable(new Error('Expected a result, got a deleted job'));
        const piece = new Uint8Array(row.piece);
        last = piece.length;
        if (last > 0) yield piece;
      }
    },
    /** Waits for what runs: the driver ends the process when its thread is terminated inside a call. */
    async close() {
      // After 30 s the pool reports an error, and terminates the thread all the same.
      thread?.once('error', () => {});
      await thread?.close();
    },
  };
}

function createThread(path: string): Piscina<Statement, QueryResult<never>> {
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
