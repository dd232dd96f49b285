/** Clients that leave at any byte: nothing of them stays. */
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, caught, exactly, type Options, type Row, told } from '../case.ts';
import { abort, type Moment, moments } from '../load/abort.ts';
import { analysis, exchange } from '../load/exchange.ts';
import { eventually, type Footprint, footprint, heldPlaces } from '../load/footprint.ts';
import { createRandom } from '../load/random.ts';
import { type Point, robustSlope } from '../load/slope.ts';
import { speechUpload } from '../load/speech.ts';
import { type Plant, plant } from '../plant.ts';
import { startProgress } from '../progress.ts';
import { buildService, type Server, withServer } from '../service.ts';

const upload = speechUpload(1);
const clients = 16;
/** Of all, before anything is compared. */
const warmUpShare = 0.5;
/** The instrument collects it every second. */
const collectedMs = 1500;

/** Memory is read after each of so many stretches. */
type Limits = { readonly aborts: number; readonly stretches: number; readonly leakMebibytes: number };
const limits = ({ long, count }: Options): Limits =>
  long
    ? { aborts: count ?? 60_000, stretches: 10, leakMebibytes: 8 }
    : { aborts: count ?? 1000, stretches: 2, leakMebibytes: 1000 };

type Left = {
  readonly before: Footprint;
  readonly after: Footprint;
  readonly memory: readonly Point[];
  readonly held: number;
  readonly moments: ReadonlyMap<Moment, number>;
  /** Statuses of as many whole requests at one time as there are places. */
  readonly statuses: readonly number[];
};

async function abortMany(server: Server, seed: number, { aborts, stretches }: Limits): Promise<Left> {
  const pid = server.process.pid as number;
  const random = createRandom(seed);
  const counts = new Map<Moment, number>(moments.map((moment) => [moment, 0]));
  const progress = startProgress('abort', aborts);
  let started = 0;
  const pass = async (until: number) => {
    while (started < until) {
      started++;
      const moment = await abort(server, upload, random);
      counts.set(moment, (counts.get(moment) ?? 0) + 1);
      progress.advance();
    }
  };
  /** Resolves when nothing of these is under way any more and the garbage is collected. */
  const together = async (until: number) => {
    await Promise.all(Array.from({ length: clients }, () => pass(until)));
    await eventually(async () => (await heldPlaces(server.port)) === 0);
    await sleep(collectedMs);
  };
  const warmUp = Math.round(warmUpShare * aborts);
  await together(warmUp);
  const before = footprint(pid);
  const memory: Point[] = [{ x: warmUp, y: before.mebibytes }];
  for (let stretch = 1; stretch <= stretches; stretch++) {
    await together(warmUp + Math.round((stretch / stretches) * (aborts - warmUp)));
    memory.push({ x: started, y: footprint(pid).mebibytes });
  }
  progress.stop();
  const held = await heldPlaces(server.port);
  // Asking took a connection as well.
  await eventually(() => {
    const now = footprint(pid);
    return now.descriptors <= before.descriptors && now.threads <= before.threads;
  });
  const after = footprint(pid);
  const whole = Array.from({ length: clients }, () => exchange(analysis(server, upload)));
  const statuses = (await Promise.all(whole)).map(({ status }) => status);
  return { before, after, memory, held, moments: counts, statuses };
}

function judge(left: Left, { leakMebibytes }: Limits): Row[] {
  const { after, before, held, memory, statuses } = left;
  const slope = robustSlope(memory);
  const total = [...left.moments.values()].reduce((sum, count) => sum + count, 0);
  const shares = [...left.moments].map(([moment, count]) => `${count} ${moment}`).join(', ');
  return [
    told({ name: 'clients that left', unit: 'clients', value: total, note: shares }),
    exactly(0, { name: 'bytes, places and workers still held', unit: 'number', value: held }),
    atMost(0, {
      name: 'more descriptors than after the warm-up',
      unit: 'number',
      value: after.descriptors - before.descriptors,
      note: `${before.descriptors} then`,
    }),
    atMost(0, { name: 'more threads', unit: 'number', value: after.threads - before.threads }),
    atMost(leakMebibytes, {
      name: 'memory gained for 10,000 that left',
      unit: 'MiB',
      value: slope === null ? null : 10_000 * slope,
      note: `${before.mebibytes.toFixed(0)} MiB after the warm-up, ${after.mebibytes.toFixed(0)} MiB at the end`,
    }),
    exactly(0, {
      name: 'whole requests not answered 200 afterwards',
      unit: 'requests',
      value: statuses.filter((status) => status !== 200).length,
      note: `of ${statuses.length} at one time`,
    }),
  ];
}

export async function run(options: Options): Promise<readonly Row[]> {
  buildService();
  const allowed = limits(options);
  const settings = { UNDERTONE_LOG_LEVEL: 'warn', UNDERTONE_QUEUE: '32', UNDERTONE_DEADLINE_S: '300' };
  const left = (wanted: Limits, ...faults: readonly Plant[]) =>
    withServer({ ...settings, ...plant('collected-garbage', ...faults) }, (server) =>
      abortMany(server, options.seed, wanted),
    );
  const rows = judge(await left(allowed), allowed);
  const few = limits({ ...options, long: false, count: null });
  const leaky = judge(await left(few, 'leaked-descriptors'), allowed);
  return [...rows, caught('a descriptor leaked by one request in twenty', leaky)];
}
