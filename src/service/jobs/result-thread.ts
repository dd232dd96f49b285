/** Entry file of the thread that runs statements on results in the embedded database: the driver blocks the thread that calls it. */
import { workerData } from 'node:worker_threads';
import { openStatements, type Statement } from '../sqlite.ts';

const { path } = workerData as { readonly path: string };
let opened: ReturnType<typeof openStatements> | null = null;

export const read = async (statement: Statement) => (await open()).read(statement);
export const write = async (statements: readonly Statement[]) => (await open()).write(statements);

function open(): ReturnType<typeof openStatements> {
  opened ??= openStatements(path).catch((error: unknown) => {
    opened = null;
    throw error;
  });
  return opened;
}
