/**
 * A service on two cores against one on one core, with a worker for each core: throughput under as many clients as keep either busy.
 * Recordings are of 30 s, so that the clients, which run on the same cores, cost almost nothing compared with the analysis.
 */
import { atLeast, inTurns, type Row, root } from '../case.ts';
import {
  ask,
  buildService,
  closeConnections,
  closedLoop,
  formOf,
  type Service,
  startService,
  times,
} from '../service.ts';
import { speechFile } from '../speech.ts';

const long = process.argv.includes('--long');
const rounds = long ? 20 : 7;
const perRound = long ? 40 : 16;
const clients = 4;
const warmUps = 8;
const seconds = 30;
const form = formOf(speechFile(seconds));

export async function run(): Promise<readonly Row[]> {
  buildService();
  const services = await Promise.all(
    ['0', '0,1'].map((cores) => startService({}, [], root, ['taskset', '--cpu-list', cores])),
  );
  const send =
    ({ port }: Service) =>
    async () =>
      (await ask(port, '/v1/analyze', form)).ms;
  for (const service of services) await times(warmUps, send(service));
  const [peer = null, ours = null] = await inTurns(services, rounds, async (service) => [
    await closedLoop(clients, perRound, send(service)),
  ]);
  closeConnections();
  for (const service of services) await service.stop();
  const name = `two cores against one, ${seconds} s WAV`;
  return [atLeast(1.8, { name, unit: 'ms a request', peer, ours, note: `${clients} clients` })];
}
