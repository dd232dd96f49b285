/** The built service as a process for the duration of `work`. */
import type { RequestListener } from 'node:http';
import { buildService } from '../../../benchmarks/service.ts';
import { type JobStack, startJobStack } from '../../support/jobs.ts';
import { listen } from '../../support/listening.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';
import { type Server, startServer } from '../../support/server.ts';

export type { JobStack } from '../../support/jobs.ts';
export type { RedisServer } from '../../support/redis.ts';
export type { Server } from '../../support/server.ts';
export { buildService };

type Teardown = { teardown(undo: () => unknown): void };

/** Runs teardowns in reverse order, also after an error. */
async function withTeardown<Result>(work: (t: Teardown) => Promise<Result>): Promise<Result> {
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
  return withTeardown(async (t) => work(await startServer(t, env)));
}

/** The service with a Redis server. */
export function withJobs<Result>(
  env: Readonly<Record<string, string>>,
  work: (place: JobStack) => Promise<Result>,
): Promise<Result> {
  return withTeardown(async (t) => work(await startJobStack(t, env)));
}

/** A Redis server for the duration of `work`. */
export async function withRedis<Result>(work: (redis: RedisServer) => Promise<Result>): Promise<Result> {
  const redis = await startRedis();
  try {
    return await work(redis);
  } finally {
    redis.client.disconnect();
    await redis.kill();
  }
}

/** A small HTTP server. */
export function withListener<Result>(
  handle: RequestListener,
  work: (port: number) => Promise<Result>,
  host?: string,
): Promise<Result> {
  return withTeardown(async (t) => work(await listen(t, handle, host)));
}

export function isUp({ process: { exitCode, signalCode } }: Pick<Server, 'process'>): boolean {
  return exitCode === null && signalCode === null;
}

// Scripts that the service loads before its own: faults to be found, and instruments.

export type PreloadScript =
  | 'immediate-exit'
  | 'periodic-gc'
  | 'slow-fields'
  | 'throwing-host'
  | 'exit-on-503'
  | 'exit-on-step'
  | 'request-recorder'
  | 'leaked-bytes'
  | 'leaked-descriptors'
  | 'leaked-sockets'
  | 'worker-faults'
  | 'early-slots'
  | 'parallel-requests'
  | 'unseen-responses'
  | 'whole-streams'
  | 'unlimited-frames';

/** @returns the environment to start the service with */
export function preload(...names: readonly PreloadScript[]): Record<string, string> {
  const faults = new URL(`injected-faults.mjs?${names.join()}`, import.meta.url);
  return { NODE_OPTIONS: `--import=${faults.href}` };
}
