/** Very many requests of every kind: what the process takes up after them is what it took before. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMebibytes } from '../../../benchmarks/process.ts';
import { atMost, caught, exactly, type Options, type Row, told } from '../case.ts';
import { eventually, type Footprint, footprint, heldPlaces } from '../load/footprint.ts';
import { createMix } from '../load/mix.ts';
import { createRandom } from '../load/random.ts';
import { lowest, type Point, robustSlope } from '../load/slope.ts';
import { plant } from '../plant.ts';
import { startProgress } from '../progress.ts';
import { buildService, type Server, withServer } from '../service.ts';

const clients = 4;
const warmUpShare = 0.25;
const samples = 400;
const stretches = 12;

type Limits = {
  readonly requests: number;
  readonly slopeMebibytes: number;
  /** The control: so many requests, each leaking so much. */
  readonly planted: { readonly requests: number; readonly kilobytes: number };
};
/** A heap grows to its working size in its first thousands of requests: the short form finds leaks above that alone. */
const limits = ({ long, count }: Options): Limits =>
  long
    ? { requests: count ?? 100_000, slopeMebibytes: 1, planted: { requests: 20_000, kilobytes: 8 } }
    : { requests: count ?? 1000, slopeMebibytes: 1000, planted: { requests: 1000, kilobytes: 256 } };

type Soaked = {
  readonly requests: number;
  readonly seconds: number;
  readonly memory: readonly Point[];
  readonly before: Footprint;
  readonly after: Footprint;
  readonly held: number;
  readonly unexpected: readonly string[];
};

async function soak(server: Server, seed: number, requests: number): Promise<Soaked> {
  const pid = server.process.pid as number;
  const agent = new Agent({ keepAlive: true });
  const mix = createMix(server, agent, createRandom(seed));
  const unexpected: string[] = [];
  const memory: Point[] = [];
  const progress = startProgress('soak', requests);
  const started = performance.now();
  const every = Math.ceil(requests / samples);
  let sent = 0;
  const pass = async (until: number) => {
    while (sent < until) {
      sent++;
      if (sent % every === 0) memory.push({ x: sent, y: residentMebibytes(pid) });
      const wrong = await mix.draw()();
      if (wrong !== null) unexpected.push(wrong);
      progress.advance();
    }
  };
  const together = (until: number) => Promise.all(Array.from({ length: clients }, () => pass(until)));
  await together(warmUpShare * requests);
  await sleep(500);
  const before = footprint(pid);
  memory.length = 0;
  await together(requests);
  agent.destroy();
  progress.stop();
  await eventually(async () => (await heldPlaces(server.port)) === 0);
  const held = await heldPlaces(server.port);
  await eventually(() => footprint(pid).descriptors <= before.descriptors);
  const seconds = (performance.now() - started) / 1000;
  return { requests, seconds, memory, before, after: footprint(pid), held, unexpected };
}

function judge(soaked: Soaked, { slopeMebibytes }: Limits): Row[] {
  const { after, before, held, memory, unexpected } = soaked;
  const slope = robustSlope(lowest(memory, stretches));
  const [from, to] = [before, after].map(({ mebibytes }) => mebibytes.toFixed(0));
  return [
    told({
      name: 'requests, one in ten hostile',
      unit: 'requests',
      value: soaked.requests,
      note: `${(soaked.requests / soaked.seconds).toFixed(0)} a second`,
    }),
    atMost(slopeMebibytes, {
      name: 'memory gained for 10,000 requests',
      unit: 'MiB',
      value: slope === null ? null : 10_000 * slope,
      note: `${from} MiB after the first quarter, ${to} MiB at the end`,
    }),
    exactly(0, {
      name: 'answers other than expected',
      unit: 'requests',
      value: unexpected.length,
      note: [...new Set(unexpected)].slice(0, 5).join('; '),
    }),
    exactly(0, { name: 'bytes, places and workers still held', unit: 'number', value: held }),
    atMost(0, {
      name: 'more descriptors than after the first quarter',
      unit: 'number',
      value: after.descriptors - before.descriptors,
    }),
    atMost(0, { name: 'more threads', unit: 'number', value: after.threads - before.threads }),
  ];
}

export async function run(options: Options): Promise<readonly Row[]> {
  buildService();
  const allowed = limits(options);
  const soaked = (requests: number, env: Readonly<Record<string, string>>) =>
    withServer({ UNDERTONE_LOG_LEVEL: 'warn', UNDERTONE_DEADLINE_S: '300', ...env }, (server) =>
      soak(server, options.seed, requests),
    );
  const rows = judge(await soaked(allowed.requests, plant('collected-garbage')), allowed);
  const { requests, kilobytes } = allowed.planted;
  const leak = { ...plant('collected-garbage', 'leaked-bytes'), PLANTED_BYTES: String(1024 * kilobytes) };
  const leaky = judge(await soaked(requests, leak), allowed);
  return [...rows, caught(`${kilobytes} kB of every request never let go`, leaky)];
}
