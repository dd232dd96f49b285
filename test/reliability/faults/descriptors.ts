/** More connections than the service has file descriptors for. */
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from '../../../benchmarks/case.ts';
import { descriptorsOf, processorMs } from '../../../benchmarks/process.ts';
import { atMost, exactly, type Options, type Row, within } from '../case.ts';
import { analysis, exchange } from '../support/exchange.ts';
import { eventually, maxWaitMs } from '../support/footprint.ts';
import { isUp, type Server, withServer } from '../support/service.ts';
import { speechUpload } from '../support/speech.ts';

const spare = 20;
const connections = 200;
const watchedMs = 2000;
/** The goal of the long form. */
const recoverWithinMs = 5000;
const body = speechUpload(1);

function openConnections({ port }: Server): Socket[] {
  return Array.from({ length: connections }, () => connect(port, '127.0.0.1').on('error', () => {}));
}

/** Time until an upload on a new connection is answered 200; null on timeout. */
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
  { long, giveUpMs = maxWaitMs }: Pick<Options, 'long'> & { readonly giveUpMs?: number },
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
      exactly(1, 'descriptors: all in use', 'found', full ? 1 : 0, `${limit}`),
      exactly(200, 'descriptors: an analysis on an open connection', 'status', kept.status),
      atMost(50, 'descriptors: CPU while none is free', '% of a core', busy),
      within(
        recoverWithinMs,
        { long },
        'descriptors: a new connection once they are free',
        'ms',
        recoveredMs,
      ),
      exactly(0, 'descriptors: the service ended', 'times', isUp(server) ? 0 : 1),
    ];
  });
}
