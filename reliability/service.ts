/** The built service as a process of its own for the length of one piece of work. */
import { buildService } from '../benchmarks/service.ts';
import { type Server, startServer } from '../test/support/server.ts';

export type { Server } from '../test/support/server.ts';
export { buildService };

/** Starts the service, does the work, ends the service and removes its data, whatever happened. */
export async function withServer<Result>(
  env: Readonly<Record<string, string>>,
  work: (server: Server) => Promise<Result>,
): Promise<Result> {
  const teardowns: (() => unknown)[] = [];
  try {
    return await work(await startServer({ teardown: (undo) => teardowns.unshift(undo) }, env));
  } finally {
    for (const undo of teardowns) await undo();
  }
}

export function isUp({ process: { exitCode, signalCode } }: Pick<Server, 'process'>): boolean {
  return exitCode === null && signalCode === null;
}
