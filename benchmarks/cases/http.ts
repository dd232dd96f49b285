/**
 * What a request costs beside its analysis, in processor time: the service with a thread that scans the upload and
 * does no more, in turns with a plain node:http server. Both have been asked thousands of times before.
 */
import { atMost, type Figure, figure, inTurns, type Row } from '../case.ts';
import { buildServers, closeConnections, type Forked, forkServer, post, times } from '../service.ts';

const long = process.argv.includes('--long');
const rounds = long ? 40 : 20;
const requestsPerRound = long ? 500 : 100;
/** Fewer, and what is measured is V8's compiler. */
const warmUps = long ? 10_000 : 3000;
const path = '/v1/analyze/emotion';

/** CPU microseconds a request: of the process and of its main thread. */
async function measure(server: Forked): Promise<readonly [process: number, mainThread: number]> {
  const before = await server.usage();
  await times(requestsPerRound, () => post(server.port, path));
  const after = await server.usage();
  const each = (kind: 'process' | 'mainThread') => (after[kind] - before[kind]) / requestsPerRound;
  return [each('process'), each('mainThread')];
}

export async function run(): Promise<readonly Row[]> {
  buildServers();
  const servers = [await forkServer('raw'), await forkServer('scan-thread')];
  for (const { port } of servers) await times(warmUps, () => post(port, path));
  const mainThread: number[][] = servers.map(() => []);
  const [raw = null, app = null] = await inTurns(servers, rounds, async (server) => {
    const [whole, main] = await measure(server);
    mainThread[servers.indexOf(server)]?.push(main);
    return [whole];
  });
  for (const server of servers) server.stop();
  closeConnections();
  const [rawMain, appMain] = mainThread.map(figure) as [Figure, Figure];
  const unit = 'us CPU a request';
  return [
    atMost(3, {
      name: 'request overhead, 320 kB WAV',
      unit,
      peer: raw,
      ours: app,
      note: 'peer: node:http that collects the raw body; ours: the service with a thread that scans it',
    }),
    atMost(1.5, {
      name: 'main thread, 320 kB WAV',
      unit,
      peer: rawMain,
      ours: appMain,
      note: 'peer: the main thread of that node:http server',
    }),
  ];
}
