/** Duration of requests, and memory over the resident set before them. */
import {
  forgetPeak,
  livingThreadsMs,
  peakMebibytes,
  residentMebibytes,
  runQueueMs,
} from '../../../benchmarks/process.ts';

export const limits = { ms: 5000, mebibytes: 256 };

export type Costs = {
  readonly slowestMs: number;
  /** Peak over the resident set before, MiB. */
  readonly mostMebibytes: number;
};

export type Ledger = {
  answered(number: number, ms: number): void;
  /** Sends requests over a limit again, alone, and subtracts the time that other processes took. */
  settle(again: (number: number) => Promise<number>): Promise<Costs>;
};

/** The peak is read and reset every so many responses. */
const spanOf = 50;
const timesAlone = 3;
/** Growth of the resident set that a span accepts, MiB; the case `soak` checks the slope. */
const slack = 4;

/**
 * What a request takes where nothing else runs: less the time that the service's threads, and this process's own, were
 * ready while other work had the processors, and no less than the processor time of the service.
 */
async function ownMs(pid: number, ask: () => Promise<number>): Promise<number> {
  const waits = () => runQueueMs(pid) + runQueueMs(process.pid);
  const [waited, worked] = [waits(), livingThreadsMs(pid)];
  const ms = await ask();
  return Math.max(livingThreadsMs(pid) - worked, ms - (waits() - waited));
}

export function openLedger(pid: number): Ledger {
  const slow = new Set<number>();
  const greedy = new Set<number>();
  let [slowestMs, mostMebibytes] = [0, 0];
  let [last, span]: [number[], number[]] = [[], []];
  let floor = residentMebibytes(pid);
  forgetPeak(pid);

  function closeSpan(): void {
    const extra = peakMebibytes(pid) - floor;
    if (extra <= limits.mebibytes) mostMebibytes = Math.max(mostMebibytes, extra);
    else for (const number of [...last, ...span]) greedy.add(number);
    floor = Math.min(floor + slack, residentMebibytes(pid));
    [last, span] = [span, []];
    forgetPeak(pid);
  }

  return {
    answered: (number, ms) => {
      if (ms > limits.ms) slow.add(number);
      else slowestMs = Math.max(slowestMs, ms);
      if (span.push(number) === spanOf) closeSpan();
    },
    settle: async (again) => {
      closeSpan();
      for (const number of slow) {
        let best = Number.POSITIVE_INFINITY;
        for (let times = 0; times < timesAlone && best > limits.ms; times++)
          best = Math.min(best, await ownMs(pid, () => again(number)));
        slowestMs = Math.max(slowestMs, best);
      }
      for (const number of greedy) {
        floor = residentMebibytes(pid);
        forgetPeak(pid);
        await again(number);
        mostMebibytes = Math.max(mostMebibytes, peakMebibytes(pid) - floor);
      }
      return { slowestMs, mostMebibytes };
    },
  };
}
