/**
 * What a request costs beside its analysis, in processor time: the service with a thread that scans the upload and
 * does no more, in turns with a plain node:http server. Both have been asked thousands of times before.
 */
import { atMost, figure, type Row } from '../case.ts';
import { closeConnections, post, times } from '../request/client.ts';
import { buildServers, type Forked, forkServer } from '../request/forked.ts';

const long = process.argv.includes('--long');
const rounds = long ? 40 : 20;
const requestsPerRound = long ? 500 : 100;
/** Fewer, and what is measured is V8's compiler. */
const warmUps = long ? 10_000 : 3000;
const mainThreadMicroseconds = 200;
const path = '/v1/analyze/emotion';

type Cost = { readonly process: number[]; readonly mainThread: number[] };

/** CPU microseconds a request, one figure a round. */
async function measure(server: Forked, cost: Cost): Promise<void> {
  const before = await server.usage();
  await times(requestsPerRound, () => post(server.port, path));
  const after = await server.usage();
  cost.process.push((after.process - before.process) / requestsPerRound);
  cost.mainThread.push((after.mainThread - before.mainThread) / requestsPerRound);
}

export async function run(): Promise<readonly Row[]> {
  buildServers();
  const servers = { raw: await forkServer('raw'), app: await forkServer('scan-thread') };
  const costs: Record<keyof typeof servers, Cost> = {
    raw: { process: [], mainThread: [] },
    app: { process: [], mainThread: [] },
  };
  for (const { port } of Object.values(servers)) await times(warmUps, () => post(port, path));
  for (let round = 0; round < rounds; round++) {
    await measure(servers.raw, costs.raw);
    await measure(servers.app, costs.app);
  }
  servers.raw.stop();
  servers.app.stop();
  closeConnections();
  const unit = 'us CPU a request';
  const rawMainThread = figure(costs.raw.mainThread)?.median.toFixed(0);
  return [
    atMost(3, {
      name: 'request overhead, 320 kB WAV',
      unit,
      peer: figure(costs.raw.process),
      ours: figure(costs.app.process),
      note: 'peer: node:http that collects the raw body; ours: the service with a thread that scans it',
    }),
    atMost(1, {
      name: 'main thread, 320 kB WAV',
      unit,
      peer: figure([mainThreadMicroseconds]),
      ours: figure(costs.app.mainThread),
      note: `peer: the limit; the main thread of the node:http server takes ${rawMainThread} us`,
    }),
  ];
}
