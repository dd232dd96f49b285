/** Waits that end with what they wait for: how long a busy machine takes for it does not matter. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from './folder.ts';
import type { ThreadTask } from './thread.ts';

/** Far more than anything takes on a machine that does much else at the same time. */
export const ceilingMs = 300_000;
const pauseMs = 20;

/** Resolves once `holds` returns true. @throws when it never does */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + ceilingMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`Expected \`${holds}\` within ${ceilingMs / 1000} s`);
    await sleep(pauseMs);
  }
}

/**
 * The shortest of several runs, up to the first below `boundMs`. What waits for a timer waits in each of them; what
 * a busy machine delays is not delayed in all.
 */
export async function fastest(boundMs: number, work: () => Promise<unknown>, runs = 30): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs && least >= boundMs; run++) {
    const started = performance.now();
    await work();
    least = Math.min(least, performance.now() - started);
  }
  return least;
}

// Work for a thread of the tests (see thread.ts) that lasts until the test ends it.

export type Gate = { readonly task: ThreadTask; open(): void };

export function createGate(): Gate {
  const file = join(makeFolder(), 'open');
  return { task: { do: 'hold', file }, open: () => writeFileSync(file, '') };
}
