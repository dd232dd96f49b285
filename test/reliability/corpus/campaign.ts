/** Many requests at a running service, each answer looked at. */

import { inParallel } from '../parallel.ts';
import { startProgress } from '../progress.ts';
import { type Answer, createClient } from './ask.ts';
import type { Judge } from './contract.ts';
import { type Costs, openLedger } from './costs.ts';
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
  /** Null when the process was gone. */
  readonly costs: Costs | null;
  readonly health: { readonly asked: number; readonly failed: number };
};

const atATime = 4;

export async function attack(
  target: Target,
  judge: Judge,
  numbers: readonly number[],
  shot: Shot,
): Promise<Campaign> {
  const { port, token, pid } = target;
  const client = createClient(port, token, atATime);
  const pulse = watchHealth(port);
  const progress = startProgress('attacking', numbers.length);
  const ledger = openLedger(pid);
  const findings: Finding[] = [];
  const answered: Record<number, number> = {};
  await inParallel(numbers, atATime, async (number) => {
    try {
      const { path, answer } = await shot(client, number);
      answered[answer.status] = (answered[answer.status] ?? 0) + 1;
      ledger.answered(number, answer.ms);
      const fault = judge(path, answer);
      if (fault !== null) findings.push({ number, fault });
    } catch (error) {
      findings.push({ number, fault: `no answer: ${(error as Error).message}` });
    }
    progress.advance();
  });
  progress.stop();
  const costs = await ledger
    .settle(async (number) => (await shot(client, number)).answer.ms)
    .catch(() => null);
  client.close();
  return { findings, answered, costs, health: pulse.stop() };
}

/** How often each status was answered; 0 stands for a client that broke off and got none. */
export function showAnswers({ answered }: Campaign): string {
  return Object.entries(answered)
    .map(([status, times]) => `${times} x ${status === '0' ? 'hung up' : status}`)
    .join(', ');
}
