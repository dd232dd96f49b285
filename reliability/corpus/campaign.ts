/** Many requests at a running service, each answer looked at. */
import type { Answer } from './ask.ts';
import { createClient } from './ask.ts';
import { showBar } from './bar.ts';
import type { Judge } from './contract.ts';
import { inParallel } from './crew.ts';
import { forgetPeak, peakMebibytes, residentMebibytes } from './memory.ts';
import { watchHealth } from './pulse.ts';

export type Target = { readonly port: number; readonly token: string; readonly pid: number };

/** Sends one thing, and says on which path. */
export type Shot = (
  client: ReturnType<typeof createClient>,
  number: number,
) => Promise<{ path: string; answer: Answer }>;

export type Finding = { readonly number: number; readonly fault: string };

export type Campaign = {
  readonly findings: readonly Finding[];
  readonly answered: Readonly<Record<number, number>>;
  /** Of those that took too long the best of several times alone: a busy machine is not the service's fault. */
  readonly slowestMs: number;
  /** The most that was resident over what was before, MiB. */
  readonly extraMebibytes: number;
  readonly health: { readonly asked: number; readonly failed: number };
};

const atATime = 4;
const slowMs = 5000;
const timesAlone = 3;
/** The peak is read, and forgotten, once in so many answers. */
const peakEvery = 50;

export async function attack(
  target: Target,
  judge: Judge,
  numbers: readonly number[],
  shot: Shot,
): Promise<Campaign> {
  const { port, token, pid } = target;
  const client = createClient(port, token, atATime);
  const pulse = watchHealth(port);
  const bar = showBar('attacking', numbers.length);
  const findings: Finding[] = [];
  const answered: Record<number, number> = {};
  const before = residentMebibytes(pid);
  const took = new Map<number, number>();
  let [peak, done] = [before, 0];
  forgetPeak(pid);
  await inParallel(numbers, atATime, async (number) => {
    const fault = await shot(client, number).then(
      ({ path, answer }) => {
        took.set(number, answer.ms);
        answered[answer.status] = (answered[answer.status] ?? 0) + 1;
        return judge(path, answer);
      },
      (error: Error) => `no answer: ${error.message}`,
    );
    if (fault !== null) findings.push({ number, fault });
    if (++done % peakEvery === 0) peak = Math.max(peak, takePeak(pid));
    bar.step();
  });
  peak = Math.max(peak, takePeak(pid));
  bar.end();
  for (const [number, ms] of took) {
    if (ms > slowMs) took.set(number, Math.min(ms, await bestAlone(() => shot(client, number))));
  }
  client.close();
  const slowestMs = [...took.values()].reduce((most, ms) => Math.max(most, ms), 0);
  return { findings, answered, slowestMs, extraMebibytes: peak - before, health: pulse.stop() };
}

async function bestAlone(send: () => ReturnType<Shot>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let times = 0; times < timesAlone && best > slowMs; times++) {
    const { answer } = await send();
    best = Math.min(best, answer.ms);
  }
  return best;
}

/** What is read of a process that has gone is not lost: its requests are findings. */
function takePeak(pid: number): number {
  try {
    const peak = peakMebibytes(pid);
    forgetPeak(pid);
    return peak;
  } catch {
    return 0;
  }
}
