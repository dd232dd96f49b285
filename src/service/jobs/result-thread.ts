/** Entry file of the thread that runs statements on results in the embedded database: the driver blocks the thread that calls it. */
import { workerData } from 'node:worker_threads';
import { type RunStatement, runStatements } from '../sqlite.ts';

const { path } = workerData as { readonly path: string };
let opened: Promise<RunStatement> | null = null;

export const run: RunStatement = async (statement) => {
  opened ??= runStatements(path);
  return (await opened)(statement);
};
