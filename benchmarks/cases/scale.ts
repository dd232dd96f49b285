/** Two workers against one: requests a second of as many clients as keep either busy. */
import { atLeast, type Figure, figure, type Row } from '../case.ts';
import { closeConnections, post, times } from '../request/client.ts';
import { buildService, type Service, startService } from '../service.ts';

const long = process.argv.includes('--long');
const rounds = long ? 15 : 7;
const perRound = long ? 80 : 24;
const clients = 4;
const warmUps = 20;

/** @returns milliseconds a request, all clients together */
async function round({ port }: Service): Promise<number> {
  const started = performance.now();
  await Promise.all(Array.from({ length: clients }, () => times(perRound / clients, () => post(port))));
  return (performance.now() - started) / perRound;
}

export async function run(): Promise<readonly Row[]> {
  buildService();
  const one = await startService({ UNDERTONE_WORKERS: '1' });
  const two = await startService({ UNDERTONE_WORKERS: '2' });
  const measured = { one: [] as number[], two: [] as number[] };
  for (const { port } of [one, two]) await times(warmUps, () => post(port));
  for (let index = 0; index < rounds; index++) {
    measured.one.push(await round(one));
    measured.two.push(await round(two));
  }
  closeConnections();
  await one.stop();
  await two.stop();
  const perSecond = (value: Figure | null) => (1000 / (value?.median ?? Number.NaN)).toFixed(1);
  const [peer, ours] = [figure(measured.one), figure(measured.two)];
  return [
    atLeast(1.8, {
      name: 'two workers against one, 10 s WAV',
      unit: 'ms a request',
      peer,
      ours,
      note: `${clients} clients; ${perSecond(peer)} and ${perSecond(ours)} requests/s`,
    }),
  ];
}
