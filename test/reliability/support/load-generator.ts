/** An open or a closed loop of uploads, in a process of its own: this file is forked. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createPrng } from './prng.ts';
import { analysis, exchange, type Outcome, speechUpload } from './requests.ts';

export type Order = {
  readonly port: number;
  readonly token: string;
  readonly audioSeconds: number;
  readonly seconds: number;
  readonly seed: number;
  /** An open loop with random gaps, or a closed loop of so many clients. */
  readonly pace: { readonly perSecond: number } | { readonly clients: number };
};

/** The service has priority over the generator. */
const niceness = 10;
/** One request in ten waits for 100 Continue. */
const politeShare = 0.1;
const agent = new Agent({ keepAlive: true });
const here = fileURLToPath(import.meta.url);

/** Gaps are exponential. */
async function openLoop(order: Order, perSecond: number): Promise<Outcome[]> {
  const prng = createPrng(order.seed);
  const body = speechUpload(order.audioSeconds);
  const answers: Promise<Outcome>[] = [];
  const end = performance.now() + 1000 * order.seconds;
  let at = performance.now();
  while (at < end) {
    await sleep(Math.max(0, at - performance.now()));
    answers.push(exchange(analysis(order, body, { agent, polite: prng.next() < politeShare })));
    at -= (1000 / perSecond) * Math.log(1 - prng.next());
  }
  return Promise.all(answers);
}

async function closedLoop(order: Order, clients: number): Promise<Outcome[]> {
  const body = speechUpload(order.audioSeconds);
  const outcomes: Outcome[] = [];
  const end = performance.now() + 1000 * order.seconds;
  const client = async () => {
    while (performance.now() < end) outcomes.push(await exchange(analysis(order, body, { agent })));
  };
  await Promise.all(Array.from({ length: clients }, client));
  return outcomes;
}

export type Generator = {
  /** Resolves when every request of the order has come to its end; one order at a time. */
  send(order: Order): Promise<readonly Outcome[]>;
  stop(): void;
};

export function startGenerator(): Generator {
  const child = fork(here);
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the generator has ended')));
  // Only an order waits for it.
  ended.catch(() => {});
  return {
    send: async (order) => {
      child.send(order);
      const answer = once(child, 'message') as Promise<[readonly Outcome[]]>;
      const [outcomes] = await Promise.race([answer, ended]);
      return outcomes;
    },
    stop: () => child.disconnect(),
  };
}

if (process.argv[1] === here) {
  setPriority(niceness);
  process.on('message', async (order: Order) => {
    const { pace } = order;
    const outcomes = 'clients' in pace ? closedLoop(order, pace.clients) : openLoop(order, pace.perSecond);
    process.send?.(await outcomes);
  });
  process.on('disconnect', () => process.exit());
}
