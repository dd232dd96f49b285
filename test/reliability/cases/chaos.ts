/** Workers die in every way during requests: at most the worker's own request fails, and the worker is replaced. */
import { setTimeout as sleep } from 'node:timers/promises';
import { exactly, informational, negativeControl, type Options, type Row, within } from '../case.ts';
import { createPrng, type Prng } from '../support/prng.ts';
import { ask, askMany, type WorkerAnswer } from '../support/requests.ts';
import { buildService, isUp, preload, type Server, withServer } from '../support/service.ts';

/** What the worker does in the middle of a request. */
type Way = 'throw' | 'exit' | 'exhaust' | 'segfault';

const ways: readonly Way[] = ['throw', 'exit', 'exhaust'];
const workers = 2;
const settings = {
  UNDERTONE_WORKERS: String(workers),
  UNDERTONE_QUEUE: '64',
  UNDERTONE_DEADLINE_S: '300',
  UNDERTONE_LOG_LEVEL: 'silent',
};
/** Some run while a worker dies, some wait. */
const otherRequests = 5;
const giveUpMs = 120_000;
/** A replacement loads the models: the goal of the long form. */
const replacedWithinMs = 2000;

type Death = {
  /** Requests that failed besides the one that the worker had. */
  readonly others: number;
  /** The request that the worker had was answered otherwise than 503 `worker_lost`. */
  readonly wrongResponse: boolean;
  /** Until all workers work again; null when they never did. */
  readonly replacedMs: number | null;
};

async function die(server: Server, way: Way, prng: Prng): Promise<Death> {
  const held = askMany(server, 'hold-x', otherRequests);
  await sleep(prng.below(150));
  const answer = await ask(server, `die-${way}`);
  const lostAt = performance.now();
  const again = await allWork(server, lostAt + giveUpMs);
  const failed = (await held).filter(({ status }) => status !== 200);
  return {
    others: failed.length,
    wrongResponse: !isLost(answer),
    replacedMs: again ? performance.now() - lostAt : null,
  };
}

function isLost({ status, code }: WorkerAnswer): boolean {
  return status === 503 && code === 'worker_lost';
}

/** Whether as many requests as there are workers, at one time, came to be done by as many of them. */
async function allWork(server: Server, until: number): Promise<boolean> {
  while (performance.now() < until && isUp(server)) {
    const answers = await Promise.race([
      askMany(server, 'hold-x', workers),
      sleep(Math.max(0, until - performance.now()), [], { ref: false }),
    ]);
    if (new Set(answers.map(({ worker }) => worker).filter(Boolean)).size === workers) return true;
  }
  return false;
}

/** The service's own counter. */
async function lostWorkers({ url }: Server): Promise<number | null> {
  const text = await fetch(`${url}/metrics`).then((response) => response.text());
  return Number(/^undertone_workers_lost_total (\d+)$/m.exec(text)?.[1]);
}

type Trial = {
  readonly ways: readonly Way[];
  readonly deaths: number;
  readonly long: boolean;
};

async function attempt(trial: Trial, seed: number): Promise<Row[]> {
  const prng = createPrng(seed);
  const env = { ...settings, ...preload('worker-faults') };
  return withServer(env, async (server) => {
    const deaths: Death[] = [];
    await allWork(server, performance.now() + giveUpMs);
    while (deaths.length < trial.deaths && isUp(server) && deaths.at(-1)?.replacedMs !== null) {
      const way = trial.ways[deaths.length % trial.ways.length] as Way;
      deaths.push(await die(server, way, prng));
    }
    return rowsOf(trial, deaths, isUp(server) ? 0 : 1, isUp(server) ? await lostWorkers(server) : null);
  });
}

function rowsOf(trial: Trial, deaths: readonly Death[], exits: number, counted: number | null): Row[] {
  const slowest = Math.max(...deaths.map(({ replacedMs }) => replacedMs ?? Number.POSITIVE_INFINITY));
  const note = `${trial.ways.join(', ')} in turns, during ${otherRequests} requests`;
  return [
    informational('workers killed', 'deaths', deaths.length, note),
    exactly(0, 'the service ended', 'times', exits),
    exactly(
      0,
      'requests of other workers or of the queue lost',
      'requests',
      deaths.reduce((sum, { others }) => sum + others, 0),
    ),
    exactly(
      0,
      'requests of a lost worker not answered 503 worker_lost',
      'requests',
      deaths.filter(({ wrongResponse }) => wrongResponse).length,
    ),
    within(replacedWithinMs, trial, 'slowest replacement', 'ms', Number.isFinite(slowest) ? slowest : null),
    exactly(deaths.length, 'undertone_workers_lost_total', 'workers', counted),
  ];
}

export async function run({ long, seed, count }: Options): Promise<readonly Row[]> {
  buildService();
  const trial = { ways, deaths: count ?? (long ? 100 : ways.length), long };
  const rows = await attempt(trial, seed);
  const crash = await attempt({ ...trial, ways: ['segfault'], deaths: 1 }, seed);
  return [...rows, negativeControl('a native crash of a worker', crash)];
}
