/** Many requests to a running service, each answer checked. */
import { type Answer, createClient } from '../support/client.ts';
import { type Health, startHealthProbe } from '../support/health-probe.ts';
import { inParallel } from '../support/parallel.ts';
import { startProgress } from '../support/progress.ts';
import { type Costs, openLedger } from './costs.ts';
import type { Judge } from './judge.ts';

export type Target = { readonly port: number; readonly token: string; readonly pid: number };

/** Sends request `number` of the campaign. */
export type SendOne = (
  client: ReturnType<typeof createClient>,
  number: number,
) => Promise<{ path: string; answer: Answer }>;

export type Finding = { readonly number: number; readonly fault: string };

export type Campaign = {
  readonly findings: readonly Finding[];
  readonly answered: Readonly<Record<number, number>>;
  /** Null when the process ended. */
  readonly costs: Costs | null;
  readonly health: Health;
};

const atATime = 4;

export async function attack(
  target: Target,
  judge: Judge,
  numbers: readonly number[],
  sendOne: SendOne,
): Promise<Campaign> {
  const { port, token, pid } = target;
  const client = createClient(port, token, atATime);
  const probe = startHealthProbe(port);
  const progress = startProgress('attacking', numbers.length);
  const ledger = openLedger(pid);
  const findings: Finding[] = [];
  const answered: Record<number, number> = {};
  await inParallel(numbers, atATime, async (number) => {
    try {
      const { path, answer } = await sendOne(client, number);
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
    .settle(async (number) => (await sendOne(client, number)).answer.ms)
    .catch(() => null);
  client.close();
  return { findings, answered, costs, health: await probe.stop() };
}

/** Number of answers by status; 0: the client closed the connection and got none. */
export function showAnswers({ answered }: Campaign): string {
  return Object.entries(answered)
    .map(([status, times]) => `${times} x ${status === '0' ? 'hung up' : status}`)
    .join(', ');
}

/** Wrong answers, which the judge must find. */
export const answerFaults: Readonly<Record<string, (answer: Answer) => Answer>> = {
  'status 500': (answer) => ({ ...answer, status: 500 }),
  NaN: (answer) => ({ ...answer, body: answer.body.replace(/:0[.\d]*/, ':NaN') }),
  infinity: (answer) => ({ ...answer, body: answer.body.replace(/:0[.\d]*/, ':1e999') }),
  'a missing field': (answer) => ({ ...answer, body: answer.body.replace('"request_id"', '"id"') }),
};

/** The same requests; the answer of every tenth is replaced. */
export const withFault =
  (sendOne: SendOne, fault: (answer: Answer) => Answer): SendOne =>
  async (client, number) => {
    const { path, answer } = await sendOne(client, number);
    return { path, answer: number % 10 === 0 ? fault(answer) : answer };
  };
