/** What a process of the service takes up, as the system and the service itself tell it. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../../test/support/http.ts';

export type Footprint = {
  readonly rssBytes: number;
  readonly threads: number;
  readonly descriptors: number;
};

export function footprint(pid: number): Footprint {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  return {
    rssBytes: 1024 * field('VmRSS'),
    threads: field('Threads'),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** Bodies held, analyses that wait and workers at work: 0 once nothing is left of any request. */
export async function heldPlaces(port: number): Promise<number> {
  const { body } = await call(port, { path: '/metrics' });
  const names = ['undertone_held_bytes', 'undertone_queue_length', 'undertone_workers_busy'];
  const values = names.map((name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1]));
  return values.reduce((sum, value) => sum + value, 0);
}

/** @returns whether it came to hold in time */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  withinMs: number,
): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (performance.now() < until) {
    if (await holds()) return true;
    await sleep(100);
  }
  return holds();
}
