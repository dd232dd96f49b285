/** Requests that come at their own time, at half of what the service can do: how long the slow ones take. */
import { percentile } from '../../src/tools/evaluate/statistics.ts';
import { atMost, figure, type Row, withinLimit } from '../case.ts';
import {
  ask,
  buildService,
  capacity,
  closeConnections,
  openLoop,
  post,
  startService,
  times,
} from '../service.ts';

const long = process.argv.includes('--long');
const requests = long ? 3000 : 400;
const warmUps = 40;
const lagMilliseconds = 5;
/** What Node measures is the time from one tick of a timer to the next. */
const tickMilliseconds = 10;

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
  // A request's time counts from when it was due, whoever was late.
  const answered = await openLoop({ requests, perSecond }, (late) =>
    post(service.port).then((ms) => ms + late),
  );
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
