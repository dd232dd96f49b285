/** The built service as a process of its own for the length of one piece of work. */
import type { RequestListener } from 'node:http';
import { buildService } from '../../benchmarks/service.ts';
import { type JobStack, startJobStack } from '../support/jobs.ts';
import { listen } from '../support/listening.ts';
import { type Server, startServer } from '../support/server.ts';

export type { JobStack } from '../support/jobs.ts';
export type { Server } from '../support/server.ts';
export { buildService };

type Begun = { teardown(undo: () => unknown): void };

/** What was begun for a piece of work ends with it, the last first, whatever happened. */
async function during<Result>(work: (t: Begun) => Promise<Result>): Promise<Result> {
  const teardowns: (() => unknown)[] = [];
  try {
    return await work({ teardown: (undo) => teardowns.unshift(undo) });
  } finally {
    for (const undo of teardowns) await undo();
  }
}

/** Starts the service, does the work, ends the service and removes its data. */
export function withServer<Result>(
  env: Readonly<Record<string, string>>,
  work: (server: Server) => Promise<Result>,
): Promise<Result> {
  return during(async (t) => work(await startServer(t, env)));
}

/** The same beside a Redis of its own. */
export function withJobs<Result>(
  env: Readonly<Record<string, string>>,
  work: (place: JobStack) => Promise<Result>,
): Promise<Result> {
  return during(async (t) => work(await startJobStack(t, env)));
}

/** The same with a small server of the case's own. */
export function withListener<Result>(
  handle: RequestListener,
  work: (port: number) => Promise<Result>,
  host?: string,
): Promise<Result> {
  return during(async (t) => work(await listen(t, handle, host)));
}

export function isUp({ process: { exitCode, signalCode } }: Pick<Server, 'process'>): boolean {
  return exitCode === null && signalCode === null;
}
