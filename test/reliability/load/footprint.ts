/** What a process of the service takes up, as the system and the service itself tell it. */
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

/** Far more than anything takes on a machine that does much else at the same time. */
export const patienceMs = 120_000;

const bodyGauges = ['undertone_held_bytes', 'undertone_account_request_bytes'];

export const heldBytes = (port: number): Promise<number> => readGauges(port, bodyGauges);

/** Bodies held, analyses that wait and workers at work: 0 once nothing is left of any request. */
export const heldPlaces = (port: number): Promise<number> =>
  readGauges(port, [...bodyGauges, 'undertone_queue_length', 'undertone_workers_busy']);

/** @returns whether it came to hold in time */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  withinMs: number = patienceMs,
): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (performance.now() < until) {
    if (await holds()) return true;
    await sleep(100);
  }
  return holds();
}
