/** Resources of a service process, from the kernel and its metrics. */
import { setTimeout as sleep } from 'node:timers/promises';
import { descriptorsOf, residentMebibytes, threadsOf } from '../../../benchmarks/process.ts';
import { call } from '../../support/http.ts';

export type Footprint = {
  readonly mebibytes: number;
  readonly threads: number;
  readonly descriptors: number;
};

export function footprint(pid: number): Footprint {
  return {
    mebibytes: residentMebibytes(pid),
    threads: threadsOf(pid),
    descriptors: descriptorsOf(pid),
  };
}

async function readGauges(port: number, names: readonly string[]): Promise<number> {
  const { body } = await call(port, { path: '/metrics' });
  const values = names.map((name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1]));
  return values.reduce((sum, value) => sum + value, 0);
}

/** Far longer than any operation on a busy machine. */
export const maxWaitMs = 120_000;

const bodyGauges = ['undertone_held_bytes', 'undertone_account_request_bytes'];

export const heldBytes = (port: number): Promise<number> => readGauges(port, bodyGauges);

/** Buffered bytes, queued analyses and busy workers; 0 when no request is left. */
export const heldResources = (port: number): Promise<number> =>
  readGauges(port, [...bodyGauges, 'undertone_queue_length', 'undertone_workers_busy']);

/** @returns whether it came to hold in time */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  withinMs: number = maxWaitMs,
): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (performance.now() < until) {
    if (await holds()) return true;
    await sleep(100);
  }
  return holds();
}
