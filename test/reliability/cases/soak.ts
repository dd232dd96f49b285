/** Many requests of every kind: memory, descriptors and threads do not grow. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMebibytes } from '../../../benchmarks/process.ts';
import { atMost, exactly, informational, negativeControl, type Options, type Row } from '../case.ts';
import { eventually, type Footprint, footprint, heldResources } from '../support/footprint.ts';
import { createMix } from '../support/mix.ts';
import { preload } from '../support/preload.ts';
import { createPrng } from '../support/prng.ts';
import { startProgress } from '../support/progress.ts';
import { buildService, type Server, withServer } from '../support/service.ts';
import { lowest, type Point, robustSlope } from '../support/statistics.ts';

const clients = 4;
const warmUpShare = 0.25;
const samples = 400;
const stretches = 12;

type Limits = {
  readonly requests: number;
  readonly slopeMebibytes: number;
  /** Negative control: requests, each with a leak. */
  readonly control: { readonly requests: number; readonly kilobytes: number };
};
/** A heap grows to its working size in its first thousands of requests: the short form finds leaks above that alone. */
const limits = ({ long, count }: Options): Limits =>
  long
    ? { requests: count ?? 100_000, slopeMebibytes: 1, control: { requests: 20_000, kilobytes: 8 } }
    : { requests: count ?? 1000, slopeMebibytes: 1000, control: { requests: 1000, kilobytes: 256 } };

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
  const mix = createMix(server, agent, createPrng(seed));
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
  await eventually(async () => (await heldResources(server.port)) === 0);
  const held = await heldResources(server.port);
  await eventually(() => footprint(pid).descriptors <= before.descriptors);
  const seconds = (performance.now() - started) / 1000;
  return { requests, seconds, memory, before, after: footprint(pid), held, unexpected };
}

function judge(soaked: Soaked, { slopeMebibytes }: Limits): Row[] {
  const { after, before, held, memory, unexpected } = soaked;
  const slope = robustSlope(lowest(memory, stretches));
  const [from, to] = [before, after].map(({ mebibytes }) => mebibytes.toFixed(0));
  return [
    informational(
      'requests, one in ten hostile',
      'requests',
      soaked.requests,
      `${(soaked.requests / soaked.seconds).toFixed(0)} a second`,
    ),
    atMost(
      slopeMebibytes,
      'memory gained for 10,000 requests',
      'MiB',
      slope === null ? null : 10_000 * slope,
      `${from} MiB after the first quarter, ${to} MiB at the end`,
    ),
    exactly(
      0,
      'unexpected answers',
      'requests',
      unexpected.length,
      [...new Set(unexpected)].slice(0, 5).join('; '),
    ),
    exactly(0, 'bytes, slots and workers still reserved', 'number', held),
    atMost(0, 'descriptors gained since the first quarter', 'number', after.descriptors - before.descriptors),
    atMost(0, 'threads gained', 'number', after.threads - before.threads),
  ];
}

export async function run(options: Options): Promise<readonly Row[]> {
  buildService();
  const allowed = limits(options);
  const soaked = (requests: number, env: Readonly<Record<string, string>>) =>
    withServer({ UNDERTONE_LOG_LEVEL: 'warn', UNDERTONE_DEADLINE_S: '300', ...env }, (server) =>
      soak(server, options.seed, requests),
    );
  const rows = judge(await soaked(allowed.requests, preload('periodic-gc')), allowed);
  const { requests, kilobytes } = allowed.control;
  const leak = { ...preload('periodic-gc', 'leaked-bytes'), LEAKED_BYTES: String(1024 * kilobytes) };
  const leaky = judge(await soaked(requests, leak), allowed);
  return [...rows, negativeControl(`${kilobytes} kB leaked by every request`, leaky)];
}
