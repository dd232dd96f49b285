/** Requests that come at their own time, at half of what the service can do: how long the slow ones take. */
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, figure, type Row, withinLimit } from '../case.ts';
import { percentile } from '../percentile.ts';
import { ask, closeConnections, closedLoop, post, times } from '../request/client.ts';
import { buildService, startService } from '../service.ts';

const long = process.argv.includes('--long');
const requests = long ? 3000 : 400;
const clients = 4;
const closedRequests = 120;
const warmUps = 40;
const lagMilliseconds = 5;
/** What Node measures is the time from one tick of a timer to the next. */
const tickMilliseconds = 10;

/** Requests a second when the next one comes as soon as one is answered. */
async function capacity(port: number): Promise<number> {
  return 1000 / (await closedLoop(clients, closedRequests, () => post(port)));
}

/** Gaps are exponential, from a seeded generator. A request's time counts from when it was due, whoever was late. */
async function openLoop(port: number, perSecond: number): Promise<number[]> {
  let state = 1;
  let at = performance.now();
  const answers: Promise<number>[] = [];
  for (let index = 0; index < requests; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    at -= (1000 / perSecond) * Math.log((state + 1) / 2 ** 32);
    await sleep(Math.max(0, at - performance.now()));
    const late = performance.now() - at;
    answers.push(post(port).then((ms) => ms + late));
  }
  return Promise.all(answers);
}

/** As the service's own metrics tell it, since they were last read. */
async function lagSeconds(port: number): Promise<number> {
  const text = (await ask(port, '/metrics')).body.toString();
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1]);
}

export async function run(): Promise<readonly Row[]> {
  buildService();
  const service = await startService();
  await times(warmUps, () => post(service.port));
  const perSecond = (await capacity(service.port)) / 2;
  await lagSeconds(service.port);
  const answered = await openLoop(service.port, perSecond);
  const lag = 1000 * (await lagSeconds(service.port)) - tickMilliseconds;
  closeConnections();
  await service.stop();
  return [
    atMost(4, {
      name: 'p99 against p50 at half capacity, 10 s WAV',
      unit: 'ms',
      peer: figure([percentile(answered, 0.5) as number]),
      ours: figure([percentile(answered, 0.99) as number]),
      note: `${requests} requests, ${perSecond.toFixed(1)} a second; peer: p50`,
    }),
    withinLimit(
      lagMilliseconds,
      'event-loop delay, p99, meanwhile',
      'ms',
      figure([lag]),
      'of the main thread, by its own metrics',
    ),
  ];
}
