/**
 * Two workers against one: requests a second of as many clients as keep either busy. Recordings are of 30 s, so that the
 * clients, which live on the same cores, cost next to nothing beside the analysis.
 */
import { atLeast, type Figure, figure, type Row } from '../case.ts';
import { processorMs } from '../process.ts';
import { ask, closeConnections, closedLoop, formOf, times } from '../request/client.ts';
import { buildService, type Service, startService } from '../service.ts';
import { speechFile } from '../speech.ts';

const long = process.argv.includes('--long');
const rounds = long ? 20 : 7;
const perRound = long ? 40 : 16;
const clients = 4;
const warmUps = 8;
const seconds = 30;
const form = formOf(speechFile(seconds));

type Measured = { readonly ms: number[]; readonly cpu: number[] };

/** Milliseconds a request: of the clock, all clients together, and of the service's processor time. */
async function round({ port, pid }: Service, measured: Measured): Promise<void> {
  const before = processorMs(pid);
  measured.ms.push(
    await closedLoop(clients, perRound, async () => (await ask(port, '/v1/analyze', form)).ms),
  );
  measured.cpu.push((processorMs(pid) - before) / perRound);
}

export async function run(): Promise<readonly Row[]> {
  buildService();
  const services = [
    await startService({ UNDERTONE_WORKERS: '1' }),
    await startService({ UNDERTONE_WORKERS: '2' }),
  ];
  const measured = services.map((): Measured => ({ ms: [], cpu: [] }));
  for (const { port } of services) {
    await times(warmUps, async () => (await ask(port, '/v1/analyze', form)).ms);
  }
  for (let index = 0; index < rounds; index++) {
    for (const [which, service] of services.entries()) await round(service, measured[which] as Measured);
  }
  closeConnections();
  for (const service of services) await service.stop();
  const [peer = null, ours = null] = measured.map(({ ms }) => figure(ms));
  const [alone, beside] = measured.map(({ cpu }) => figure(cpu)?.median.toFixed(0));
  const perSecond = (value: Figure | null) => (1000 / (value?.median ?? Number.NaN)).toFixed(1);
  const rates = `${perSecond(peer)} and ${perSecond(ours)} requests/s of ${clients} clients`;
  return [
    atLeast(1.8, {
      name: `two workers against one, ${seconds} s WAV`,
      unit: 'ms a request',
      peer,
      ours,
      note: `${rates}; processor time a request ${alone} and ${beside} ms`,
    }),
  ];
}
