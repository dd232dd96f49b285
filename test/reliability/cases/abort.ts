/** Clients that disconnect at any byte leave no resources reserved. */
import { setTimeout as sleep } from 'node:timers/promises';
import { informational, negativeControl, none, type Options, type Row } from '../case.ts';
import {
  eventually,
  footprint,
  type Growth,
  growthRows,
  heldResources,
  type Point,
  robustSlope,
} from '../support/footprint.ts';
import { abort, type Moment, moments } from '../support/mix.ts';
import { startProgress } from '../support/parallel.ts';
import { createPrng } from '../support/prng.ts';
import { analysis, exchange, speechUpload } from '../support/requests.ts';
import { buildService, type PreloadScript, preload, type Server, withServer } from '../support/service.ts';

const upload = speechUpload(1);
const clients = 16;
/** Share of the requests before the comparison. */
const warmUpShare = 0.5;
/** `periodic-gc` collects every second. */
const collectedMs = 1500;

/** Memory is read after each stretch. */
type Limits = {
  readonly aborts: number;
  readonly stretches: number;
  readonly leakMebibytes: number;
  /** For descriptors and threads to go; the negative control waits less, since its descriptors stay. */
  readonly settleMs?: number;
};
const limits = ({ long, count }: Options): Limits =>
  long
    ? { aborts: count ?? 60_000, stretches: 10, leakMebibytes: 8 }
    : { aborts: count ?? 1000, stretches: 2, leakMebibytes: 1000 };

type Measured = Growth & {
  readonly moments: ReadonlyMap<Moment, number>;
  /** Statuses of as many simultaneous requests as there are slots. */
  readonly statuses: readonly number[];
};

async function abortMany(server: Server, seed: number, wanted: Limits): Promise<Measured> {
  const { aborts, stretches, settleMs } = wanted;
  const pid = server.process.pid as number;
  const prng = createPrng(seed);
  const counts = new Map<Moment, number>(moments.map((moment) => [moment, 0]));
  const progress = startProgress('abort', aborts);
  let started = 0;
  const runClient = async (until: number) => {
    while (started < until) {
      started++;
      const moment = await abort(server, upload, prng);
      counts.set(moment, (counts.get(moment) ?? 0) + 1);
      progress.advance();
    }
  };
  /** Resolves when all requests have ended and garbage is collected. */
  const runUntil = async (until: number) => {
    await Promise.all(Array.from({ length: clients }, () => runClient(until)));
    await eventually(async () => (await heldResources(server.port)) === 0);
    await sleep(collectedMs);
  };
  const warmUp = Math.round(warmUpShare * aborts);
  await runUntil(warmUp);
  const before = footprint(pid);
  const memory: Point[] = [{ x: warmUp, y: before.mebibytes }];
  for (let stretch = 1; stretch <= stretches; stretch++) {
    await runUntil(warmUp + Math.round((stretch / stretches) * (aborts - warmUp)));
    memory.push({ x: started, y: footprint(pid).mebibytes });
  }
  progress.stop();
  const held = await heldResources(server.port);
  // Reading the metrics used a connection.
  await eventually(() => {
    const now = footprint(pid);
    return now.descriptors <= before.descriptors && now.threads <= before.threads;
  }, settleMs);
  const after = footprint(pid);
  const whole = Array.from({ length: clients }, () => exchange(analysis(server, upload)));
  const statuses = (await Promise.all(whole)).map(({ status }) => status);
  return { before, after, slope: robustSlope(memory), held, moments: counts, statuses };
}

function judge(measured: Measured, { leakMebibytes }: Limits): Row[] {
  const total = [...measured.moments.values()].reduce((sum, count) => sum + count, 0);
  const shares = [...measured.moments].map(([moment, count]) => `${count} ${moment}`).join(', ');
  const others = measured.statuses.filter((status) => status !== 200).map(String);
  return [
    informational('clients that disconnected', 'clients', total, shares),
    ...growthRows(measured, leakMebibytes),
    none('complete requests not answered 200 afterwards', others, measured.statuses.length),
  ];
}

export async function run(options: Options): Promise<readonly Row[]> {
  buildService();
  const allowed = limits(options);
  const settings = { UNDERTONE_LOG_LEVEL: 'warn', UNDERTONE_QUEUE: '32', UNDERTONE_DEADLINE_S: '300' };
  const measured = (wanted: Limits, ...faults: readonly PreloadScript[]) =>
    withServer({ ...settings, ...preload('periodic-gc', ...faults) }, (server) =>
      abortMany(server, options.seed, wanted),
    );
  const rows = judge(await measured(allowed), allowed);
  const few = { ...limits({ ...options, long: false, count: null }), settleMs: 5000 };
  const leaky = judge(await measured(few, 'leaked-descriptors'), allowed);
  return [...rows, negativeControl('one leaked descriptor in twenty requests', leaky)];
}
