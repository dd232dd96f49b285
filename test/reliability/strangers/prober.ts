/** Requests /health in a loop from its own process, so that only the service delays the answers. To be forked. */
import { Agent } from 'node:http';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { mainThreadMs } from '../../../benchmarks/process.ts';
import { exchange } from '../support/exchange.ts';

export type Target = { readonly port: number; readonly pid: number };

export type Delay = {
  /** The longest answer. */
  readonly ms: number;
  /** The most that the service's main thread worked during one answer: processor time, to which other processes add nothing. */
  readonly workMs: number;
  /** The same of all answers together. */
  readonly totalMs: number;
};

const pauseMs = 2;
const priority = -15;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let running = false;

/** Others on a busy machine would be measured otherwise. Only root may raise a priority. */
function goFirst(pid: number): void {
  try {
    setPriority(pid, priority);
  } catch {
    console.error('the priority stays as it is: delays are also those of other processes');
  }
}

async function probe({ port, pid }: Target, onFirst: () => void): Promise<Delay> {
  let [ms, workMs, count] = [0, 0, 0];
  for (const one of [0, pid]) goFirst(one);
  const before = mainThreadMs(pid);
  running = true;
  while (running) {
    const asked = mainThreadMs(pid);
    const answer = await exchange({ port, path: '/health', agent });
    ms = Math.max(ms, answer.status === 200 ? answer.ms : Number.POSITIVE_INFINITY);
    workMs = Math.max(workMs, mainThreadMs(pid) - asked);
    if (count++ === 0) onFirst();
    await sleep(pauseMs);
  }
  return { ms, workMs, totalMs: mainThreadMs(pid) - before };
}

process.on('message', async (order: Target | 'stop') => {
  if (order === 'stop') running = false;
  else process.send?.(await probe(order, () => process.send?.('started')));
});
process.on('disconnect', () => process.exit());
