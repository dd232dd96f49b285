/** Whole sessions one after the other: memory, descriptors and threads do not grow. */
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMebibytes } from '../../../benchmarks/process.ts';
import { speechSamples } from '../../support/stream-audio.ts';
import { connectStream } from '../../support/stream-client.ts';
import type { Row } from '../case.ts';
import { eventually, footprint, growthRows, heldResources } from '../support/footprint.ts';
import { inParallel } from '../support/parallel.ts';
import type { Server } from '../support/service.ts';
import { lowest, type Point, robustSlope } from '../support/statistics.ts';

const clients = 4;
const warmUpShare = 0.25;
const stretches = 12;
const per = { count: 1000, what: 'sessions' };
const speech = speechSamples(1);

async function session({ port, token }: Server): Promise<void> {
  const { send, socket, closed } = await connectStream(port, { token });
  send({ type: 'session.configure', encoding: 's16le', sample_rate_hz: 16_000, channels: 1, interval_s: 1 });
  for (let at = 0; at < speech.length; at += 6400) socket.send(speech.subarray(at, at + 6400));
  send({ type: 'session.end' });
  const { code } = await closed;
  if (code !== 1000) throw new Error(`Expected 1000 for a whole session, got ${code}`);
}

/** The service collects garbage every second. */
export async function memoryRows(server: Server, sessions: number, maxMebibytes: number): Promise<Row[]> {
  const pid = server.process.pid as number;
  const memory: Point[] = [];
  const pass = (from: number, to: number) =>
    inParallel(
      Array.from({ length: to - from }, (_, index) => from + index),
      clients,
      async (x) => {
        await session(server);
        memory.push({ x, y: residentMebibytes(pid) });
      },
      'sessions',
    );
  const warmUp = Math.round(warmUpShare * sessions);
  await pass(0, warmUp);
  await sleep(1500);
  const before = footprint(pid);
  memory.length = 0;
  await pass(warmUp, sessions);
  await eventually(async () => (await heldResources(server.port)) === 0);
  const held = await heldResources(server.port);
  await eventually(() => footprint(pid).descriptors <= before.descriptors);
  const slope = robustSlope(lowest(memory, stretches));
  return growthRows({ before, after: footprint(pid), slope, held }, maxMebibytes, per);
}
