/** More connections than the service has file descriptors for. */
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from '../../../benchmarks/case.ts';
import { descriptorsOf, processorMs } from '../../../benchmarks/process.ts';
import { atMost, exactly, type Options, type Row, within } from '../case.ts';
import { analysis, exchange } from '../load/exchange.ts';
import { eventually, patienceMs } from '../load/footprint.ts';
import { speechUpload } from '../load/speech.ts';
import { isUp, type Server, withServer } from '../service.ts';

const spare = 20;
const connections = 200;
const watchedMs = 2000;
/** The goal of the long form. */
const recoverWithinMs = 5000;
const body = speechUpload(1);

function openConnections({ port }: Server): Socket[] {
  return Array.from({ length: connections }, () => connect(port, '127.0.0.1').on('error', () => {}));
}

/** Until an upload on a connection of its own is answered 200; null when that never comes. */
async function recovery(server: Server, giveUpMs: number): Promise<number | null> {
  const from = performance.now();
  while (performance.now() - from < giveUpMs) {
    const { status } = await Promise.race([
      exchange(analysis(server, body)),
      sleep(giveUpMs / 5, { status: 0 }),
    ]);
    if (status === 200) return performance.now() - from;
    await sleep(50);
  }
  return null;
}

export async function fewDescriptors(
  { long, giveUpMs = patienceMs }: Pick<Options, 'long'> & { readonly giveUpMs?: number },
  env: Readonly<Record<string, string>> = {},
): Promise<Row[]> {
  const settings = { UNDERTONE_LOG_LEVEL: 'silent', UNDERTONE_WORKERS: '1', ...env };
  return withServer(settings, async (server) => {
    const pid = server.process.pid as number;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await exchange(analysis(server, body, { agent }));
    const limit = descriptorsOf(pid) + spare;
    runProgram('prlimit', ['--pid', String(pid), `--nofile=${limit}:${limit}`]);
    const sockets = openConnections(server);
    const full = await eventually(() => descriptorsOf(pid) >= limit - 1, giveUpMs);
    const kept = await exchange(analysis(server, body, { agent }));
    const before = processorMs(pid);
    await sleep(watchedMs);
    const busy = (100 * (processorMs(pid) - before)) / watchedMs;
    for (const socket of sockets) socket.destroy();
    await sleep(200);
    const recoveredMs = await recovery(server, giveUpMs);
    agent.destroy();
    return [
      exactly(1, { name: 'descriptors: all taken', unit: 'found', value: full ? 1 : 0, note: `${limit}` }),
      exactly(200, {
        name: 'descriptors: an analysis on a connection it has',
        unit: 'status',
        value: kept.status,
      }),
      atMost(50, { name: 'descriptors: processor while none is left', unit: '% of a core', value: busy }),
      within(
        recoverWithinMs,
        { long },
        {
          name: 'descriptors: a new connection once they are free',
          unit: 'ms',
          value: recoveredMs,
        },
      ),
      exactly(0, { name: 'descriptors: the service ended', unit: 'times', value: isUp(server) ? 0 : 1 }),
    ];
  });
}
