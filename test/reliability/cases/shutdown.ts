/** SIGTERM with 32 busy connections, and with more clients than the queue has slots: no request fails without an answer. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, exactly, informational, negativeControl, type Options, type Row } from '../case.ts';
import { createPrng, type Prng } from '../support/prng.ts';
import { analysis, exchange, type Outcome, speechUpload } from '../support/requests.ts';
import { buildService, preload, type Server, withServer } from '../support/service.ts';

const connections = 32;
/** The queue has a slot for every client. */
const settings = { UNDERTONE_QUEUE: '64', UNDERTONE_LOG_LEVEL: 'warn' };
/** Grace and shutdown periods that a slow machine does not exceed. */
const unhurried = {
  UNDERTONE_GRACE_S: '10',
  UNDERTONE_SHUTDOWN_S: '600',
  UNDERTONE_DEADLINE_S: '600',
};
const upload = speechUpload(1);
const warmUpMs = 400;

/** `takenMs`: requests sent up to here after the signal must be answered; shorter than the grace period. */
/** Clients without a pause, of which a full queue refuses most. */
const churn = { clients: 24, env: { UNDERTONE_WORKERS: '1', UNDERTONE_QUEUE: '2' }, repeats: 5 };

type Limits = {
  readonly env: Readonly<Record<string, string>>;
  readonly readyMs: number;
  readonly takenMs: number;
};
const limits = (long: boolean): Limits =>
  long ? { env: {}, readyMs: 100, takenMs: 900 } : { env: unhurried, readyMs: 10_000, takenMs: 1000 };

type Load = { readonly outcomes: Outcome[]; readonly ended: Promise<unknown> };

/** A third opens a connection for each request, a third keeps one busy, a third keeps one and rests between. */
function startClients(server: Server, prng: Prng): Load {
  const outcomes: Outcome[] = [];
  const client = async (index: number) => {
    const agent = index % 3 === 0 ? false : new Agent({ keepAlive: true, maxSockets: 1 });
    for (let up = true; up; ) {
      const outcome = await exchange(analysis(server, upload, { agent }));
      outcomes.push(outcome);
      up = outcome.status === 200 && outcome.error === null;
      if (index % 3 === 2) await sleep(prng.below(600));
    }
    if (agent) agent.destroy();
  };
  const clients = Array.from({ length: connections }, (_, index) => client(index));
  return { outcomes, ended: Promise.all(clients) };
}

/** @returns when /ready first said no */
async function untilUnready({ port }: Server): Promise<number> {
  for (;;) {
    const { status, error } = await exchange({ port, path: '/ready' });
    if (status === 503) return performance.now();
    if (error !== null) return Number.POSITIVE_INFINITY;
    await sleep(2);
  }
}

type Ending = {
  readonly readyMs: number;
  readonly broken: readonly Outcome[];
  readonly answered: number;
  readonly turnedAway: number;
  readonly code: number | null;
  readonly ms: number;
};

function end(
  prng: Prng,
  env: Readonly<Record<string, string>>,
  { takenMs, env: pace }: Limits,
): Promise<Ending> {
  return withServer({ ...settings, ...pace, ...env }, async (server) => {
    const { outcomes, ended } = startClients(server, prng);
    await sleep(warmUpMs + prng.below(200));
    const signalled = performance.now();
    const unready = untilUnready(server);
    const { code } = await server.stop();
    const ms = performance.now() - signalled;
    await ended;
    const whole = ({ status, error }: Outcome) => status === 200 && error === null;
    const taken = (one: Outcome) => one.status === 200 || one.startedAt < signalled + takenMs;
    const broken = outcomes.filter((one) => taken(one) && !whole(one));
    const answered = outcomes.filter(whole).length;
    return {
      readyMs: (await unready) - signalled,
      broken,
      answered,
      turnedAway: outcomes.length - answered - broken.length,
      code,
      ms,
    };
  });
}

async function repeatedly(
  { seed, count, long }: Options,
  env: Readonly<Record<string, string>> = {},
): Promise<Ending[]> {
  const prng = createPrng(seed);
  const endings: Ending[] = [];
  const repeats = count ?? (long ? 20 : 3);
  for (let index = 0; index < repeats; index++) {
    endings.push(await end(prng, env, limits(long)));
  }
  return endings;
}

function judge(endings: readonly Ending[], { readyMs }: Limits): Row[] {
  const broken = endings.flatMap((ending) => ending.broken);
  const reasons = [...new Set(broken.map(({ status, error }) => error ?? String(status)))].join(', ');
  const sum = (read: (ending: Ending) => number) => endings.reduce((total, one) => total + read(one), 0);
  const largest = (read: (ending: Ending) => number) => Math.max(...endings.map(read));
  const unready = largest((one) => one.readyMs);
  const note = `${sum((one) => one.answered)} answered; ${endings.length} times SIGTERM under ${connections} connections`;
  return [
    exactly(0, 'accepted requests broken', 'requests', broken.length, reasons || note),
    atMost(readyMs, '/ready returns 503 after', 'ms, largest', Number.isFinite(unready) ? unready : null),
    exactly(0, 'exits with another code than 0', 'times', endings.filter(({ code }) => code !== 0).length),
    informational(
      'refused at the end',
      'requests',
      sum((one) => one.turnedAway),
      'sent after the grace: refused before any byte was taken, or answered 503',
    ),
    informational(
      'from the signal to the exit',
      'ms, largest',
      largest((one) => one.ms),
    ),
  ];
}

/** A connection per request, until the service refuses connections. */
async function churnUntilRefused(server: Server, outcomes: Outcome[]): Promise<void> {
  for (;;) {
    const outcome = await exchange(analysis(server, upload));
    if (outcome.error === 'ECONNREFUSED') return;
    outcomes.push(outcome);
  }
}

/** SIGTERM under churn. */
async function endChurning(
  { count }: Options,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let index = 0; index < (count ?? churn.repeats); index++) {
    await withServer({ ...settings, ...churn.env, ...env }, async (server) => {
      const clients = Array.from({ length: churn.clients }, () => churnUntilRefused(server, outcomes));
      await sleep(warmUpMs);
      await server.stop();
      await Promise.all(clients);
    });
  }
  return outcomes;
}

/** The short form runs on busy machines, where a client may connect while the listener closes. */
function judgeChurn(outcomes: readonly Outcome[], { long, count }: Options): Row {
  const answered = (status: number) =>
    outcomes.filter((one) => one.error === null && one.status === status).length;
  const [analysed, refused] = [answered(200), answered(503)];
  const reset = outcomes.length - analysed - refused;
  return atMost(
    long ? 0 : (count ?? churn.repeats),
    `${churn.clients} looping clients and a full queue: neither answered, 503 nor a refused connection`,
    'requests',
    reset,
    `${analysed} answered, ${refused} times 503`,
  );
}

export async function run(options: Options): Promise<readonly Row[]> {
  buildService();
  const allowed = limits(options.long);
  const rows = judge(await repeatedly(options), allowed);
  const churned = judgeChurn(await endChurning(options), options);
  const abrupt = await repeatedly({ ...options, count: 1 }, preload('immediate-exit'));
  return [...rows, churned, negativeControl('an exit without waiting', judge(abrupt, allowed))];
}
