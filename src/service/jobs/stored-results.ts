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
  sqlitePath,
} from '../database.ts';
import { changeRows } from '../database-transaction.ts';
import { countPieces, pieceBytes, piecesOf } from '../result-pieces.ts';
import type { Statement } from '../sqlite.ts';
import type { StoredJob } from './job-json.ts';

/** Of one response: a piece that is read, one that is ready, one that is sent. */
export const bytesPerResponse = 3 * pieceBytes;
/** The thread ends when nothing is read or written for so long. */
const idleMs = 60_000;

export type StoredResults = ReturnType<typeof openStoredResults>;

/** Promises reject with ServiceError `storage_unavailable`. */
export function openStoredResults(database: Database, url: string) {
  const thread = databaseKind(url) === 'sqlite' ? createThread(sqlitePath(url)) : null;
  const read = <Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>> =>
    runQuery(thread === null ? database.executeQuery(query) : thread.run(toMessage(query), { name: 'read' }));
  const write = (queries: readonly CompiledQuery[]): Promise<boolean> =>
    runQuery(
      thread === null ? changeRows(database, queries) : thread.run(queries.map(toMessage), { name: 'write' }),
    );
  return {
    /**
     * Ends a job with its report. Times are ms since 1970.
     * @param json UTF-8, not empty
     * @returns false when the job has ended or was deleted: one of several workers succeeds
     */
    store(id: string, json: Uint8Array, finishedAt: number, expiresAt: number): Promise<boolean> {
      const bytes = json.length;
      const ended = database
        .updateTable('jobs')
        .set({ outcome: 'done', bytes, finished_at: finishedAt, expires_at: expiresAt })
        .where('id', '=', id)
        .where('outcome', 'is', null);
      const pieces = database.insertInto('job_pieces').values(piecesOf(id, json));
      return write([ended.compile(), pieces.compile()]);
    },
    /** The JSON text of a job that is done. Also rejects when the job is deleted meanwhile. */
    async *pieces({ id, bytes }: Pick<StoredJob, 'id' | 'bytes'>): AsyncGenerator<Uint8Array> {
      const pieces = database.selectFrom('job_pieces').select('json').where('job', '=', id);
      for (let number = 0; number < countPieces(bytes); number++) {
        const [piece] = (await read(pieces.where('number', '=', number).compile())).rows;
        if (piece === undefined) throw databaseUnavailable(new Error('Expected a result, got a deleted job'));
        yield new Uint8Array(piece.json);
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

function toMessage({ sql, parameters }: CompiledQuery): Statement {
  return { sql, parameters };
}

function createThread(path: string): Piscina {
  return new Piscina({
    filename: entryFile('service/jobs/result-thread'),
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleMs,
    workerData: { path },
    recordTiming: false,
  });
}
