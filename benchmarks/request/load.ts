/** Requests at a rate of their own, whatever the service does. */
import { setTimeout as sleep } from 'node:timers/promises';
import { closedLoop, post } from './client.ts';

const closedClients = 4;
const closedRequests = 120;

/** Requests per second when each of four clients asks again as soon as it was answered. */
export async function capacity(port: number, path?: string): Promise<number> {
  return 1000 / (await closedLoop(closedClients, closedRequests, () => post(port, path)));
}

/**
 * Gaps are exponential, from a seeded generator.
 * @param send is called when a request is due, with how late that is, ms
 */
export async function openLoop<Answer>(
  { requests, perSecond }: { readonly requests: number; readonly perSecond: number },
  send: (lateMs: number) => Promise<Answer>,
): Promise<Answer[]> {
  let state = 1;
  let at = performance.now();
  const answers: Promise<Answer>[] = [];
  for (let index = 0; index < requests; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    at -= (1000 / perSecond) * Math.log((state + 1) / 2 ** 32);
    await sleep(Math.max(0, at - performance.now()));
    answers.push(send(performance.now() - at));
  }
  return Promise.all(answers);
}
