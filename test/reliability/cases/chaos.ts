/** Workers die in every way while requests run: at most the request that a worker had is lost, and it is replaced. */
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf } from '../../../benchmarks/process.ts';
import { caught, exactly, type Options, type Row, told, within } from '../case.ts';
import { type Answer, ask, askMany } from '../chaos/upload.ts';
import { createRandom, type Random } from '../load/random.ts';
import { plant } from '../plant.ts';
import { startProgress } from '../progress.ts';
import { buildService, isUp, type Server, withServer } from '../service.ts';

/** `kill` comes from outside; the others are done by the worker itself, in the middle of a request. */
type Way = 'throw' | 'exit' | 'exhaust' | 'segfault' | 'kill';
type Isolation = 'thread' | 'process';

const ways: Readonly<Record<Isolation, readonly Way[]>> = {
  thread: ['throw', 'exit', 'exhaust'],
  process: ['throw', 'exit', 'exhaust', 'segfault', 'kill'],
};
const workers = 2;
const settings = {
  UNDERTONE_WORKERS: String(workers),
  UNDERTONE_QUEUE: '64',
  UNDERTONE_DEADLINE_S: '300',
  UNDERTONE_LOG_LEVEL: 'silent',
};
/** Some run while a worker dies, some wait. */
const beside = 5;
/** A worker that is not back by then never will be; the planted fault is given less. */
const giveUpMs = { real: 120_000, planted: 8000 };
/** A replacement loads the models: the goal of the long form. */
const replacedWithinMs = 2000;

type Death = {
  /** Requests that failed besides the one that the worker had. */
  readonly others: number;
  /** The request that the worker had was answered otherwise than 503 `worker_lost`. */
  readonly mistold: boolean;
  /** Until all workers work again; null when they never did. */
  readonly replacedMs: number | null;
};

async function die(server: Server, way: Way, random: Random, patienceMs: number): Promise<Death> {
  const held = askMany(server, 'hold-x', beside);
  await sleep(random.below(150));
  const doomed = way === 'kill' ? null : await ask(server, `die-${way}`);
  if (doomed === null) killOne(server, random);
  const lostAt = performance.now();
  const again = await allWork(server, lostAt + patienceMs);
  const failed = (await held).filter(({ status }) => status !== 200);
  // Whom the kill met is one of those beside.
  const own = doomed === null ? failed.splice(0, 1) : [doomed];
  return {
    others: failed.length,
    mistold: own.some((answer) => !isLost(answer)),
    replacedMs: again ? performance.now() - lostAt : null,
  };
}

function isLost({ status, code }: Answer): boolean {
  return status === 503 && code === 'worker_lost';
}

function killOne({ process: { pid } }: Server, random: Random): void {
  const children = childrenOf(pid as number);
  process.kill(children[random.below(children.length)] as number, 'SIGKILL');
}

/** Whether as many requests as there are workers, at one time, came to be done by as many of them. */
async function allWork(server: Server, until: number): Promise<boolean> {
  while (performance.now() < until && isUp(server)) {
    const answers = await Promise.race([
      askMany(server, 'hold-x', workers),
      sleep(Math.max(0, until - performance.now()), []),
    ]);
    if (new Set(answers.map(({ worker }) => worker).filter(Boolean)).size === workers) return true;
  }
  return false;
}

/** What the service itself has counted. */
async function lostWorkers({ url }: Server): Promise<number | null> {
  const text = await fetch(`${url}/metrics`).then((response) => response.text());
  return Number(/^undertone_workers_lost (\d+)$/m.exec(text)?.[1]);
}

/** Each keeps 40 MB of its thread's heap: threads are renewed before they are full. */
async function leak(isolation: Isolation, requests: number): Promise<Row[]> {
  const env = { ...settings, UNDERTONE_ISOLATION: isolation, ...plant('mortal-workers') };
  return withServer(env, async (server) => {
    let failed = 0;
    for (let sent = 0; sent < requests; sent += workers) {
      const answers = await askMany(server, 'leak-x', workers);
      failed += answers.filter(({ status }) => status !== 200).length;
    }
    const note = `of ${requests}, each of which leaks 40 MB`;
    return [
      exactly(0, { name: `${isolation}: requests lost to a leak`, unit: 'requests', value: failed, note }),
    ];
  });
}

type Trial = {
  readonly isolation: Isolation;
  readonly ways: readonly Way[];
  readonly deaths: number;
  readonly env: Readonly<Record<string, string>>;
  readonly giveUpMs: number;
  readonly long: boolean;
};

async function attempt(trial: Trial, seed: number): Promise<Row[]> {
  const random = createRandom(seed);
  const env = { ...settings, UNDERTONE_ISOLATION: trial.isolation, ...trial.env };
  return withServer(env, async (server) => {
    const deaths: Death[] = [];
    const progress = startProgress(`${trial.isolation}: deaths`, trial.deaths);
    await allWork(server, performance.now() + trial.giveUpMs);
    while (deaths.length < trial.deaths && isUp(server) && deaths.at(-1)?.replacedMs !== null) {
      const way = trial.ways[deaths.length % trial.ways.length] as Way;
      deaths.push(await die(server, way, random, trial.giveUpMs));
      progress.advance();
    }
    progress.stop();
    return rowsOf(trial, deaths, isUp(server) ? 0 : 1, isUp(server) ? await lostWorkers(server) : null);
  });
}

function rowsOf(trial: Trial, deaths: readonly Death[], exits: number, counted: number | null): Row[] {
  const { isolation } = trial;
  const slowest = Math.max(...deaths.map(({ replacedMs }) => replacedMs ?? Number.POSITIVE_INFINITY));
  const note = `${trial.ways.join(', ')} in turns, beside ${beside} requests`;
  return [
    told({ name: `${isolation}: workers killed`, unit: 'deaths', value: deaths.length, note }),
    exactly(0, { name: `${isolation}: the service ended`, unit: 'times', value: exits }),
    exactly(0, {
      name: `${isolation}: requests lost that another worker had, or that waited`,
      unit: 'requests',
      value: deaths.reduce((sum, { others }) => sum + others, 0),
    }),
    exactly(0, {
      name: `${isolation}: requests of a lost worker not answered 503 worker_lost`,
      unit: 'requests',
      value: deaths.filter(({ mistold }) => mistold).length,
    }),
    within(replacedWithinMs, trial, {
      name: `${isolation}: slowest replacement`,
      unit: 'ms',
      value: Number.isFinite(slowest) ? slowest : null,
    }),
    exactly(deaths.length, {
      name: `${isolation}: undertone_workers_lost`,
      unit: 'workers',
      value: counted,
    }),
  ];
}

export async function run({ long, seed, count }: Options): Promise<readonly Row[]> {
  buildService();
  const trial = (isolation: Isolation): Trial => ({
    isolation,
    ways: ways[isolation],
    deaths: count ?? (long ? 100 : ways[isolation].length),
    env: plant('mortal-workers'),
    giveUpMs: giveUpMs.real,
    long,
  });
  const rows = [...(await attempt(trial('thread'), seed)), ...(await attempt(trial('process'), seed))];
  rows.push(...(await leak('thread', long ? 400 : 60)));
  const crash = await attempt({ ...trial('thread'), ways: ['segfault'], deaths: 1 }, seed);
  const idle = await attempt(
    {
      ...trial('thread'),
      ways: ['exit'],
      deaths: 1,
      env: plant('no-replacement'),
      giveUpMs: giveUpMs.planted,
    },
    seed,
  );
  return [
    ...rows,
    caught('a crash in native code, in a thread of the service', crash),
    caught('a lost worker is not replaced', idle),
  ];
}
