/** Many requests of every kind: memory, descriptors and threads do not grow. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMebibytes } from '../../../benchmarks/process.ts';
import { informational, negativeControl, none, type Options, type Row } from '../case.ts';
import {
  eventually,
  footprint,
  type Growth,
  growthRows,
  heldResources,
  lowest,
  type Point,
  robustSlope,
} from '../support/footprint.ts';
import { createMix } from '../support/mix.ts';
import { startProgress } from '../support/parallel.ts';
import { createPrng } from '../support/prng.ts';
import { buildService, preload, type Server, withServer } from '../support/service.ts';

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

type Soaked = Growth & {
  readonly requests: number;
  readonly seconds: number;
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
  const slope = robustSlope(lowest(memory, stretches));
  return { requests, seconds, slope, before, after: footprint(pid), held, unexpected };
}

function judge(soaked: Soaked, { slopeMebibytes }: Limits): Row[] {
  const { requests, seconds, unexpected } = soaked;
  const rate = `${(requests / seconds).toFixed(0)} a second`;
  return [
    informational('requests, one in ten hostile', 'requests', requests, rate),
    none('unexpected answers', [...new Set(unexpected)], requests),
    ...growthRows(soaked, slopeMebibytes),
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
