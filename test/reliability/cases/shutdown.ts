/** SIGTERM while 32 connections are busy, and a second signal: nobody who was taken is let down. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, caught, exactly, type Options, type Row, told } from '../case.ts';
import { analysis, exchange, type Outcome } from '../load/exchange.ts';
import { createRandom, type Random } from '../load/random.ts';
import { speechUpload } from '../load/speech.ts';
import { plant } from '../plant.ts';
import { startProgress } from '../progress.ts';
import { buildService, type Server, withServer } from '../service.ts';

const connections = 32;
/** There is a place for every one of them. */
const settings = { UNDERTONE_QUEUE: '64', UNDERTONE_LOG_LEVEL: 'warn' };
/** The short form shares its machine: it gives the service a grace, and a time to end, that a slow machine cannot pass. */
const unhurried = {
  UNDERTONE_GRACE_S: '10',
  UNDERTONE_SHUTDOWN_S: '600',
  UNDERTONE_DEADLINE_S: '600',
};
const upload = speechUpload(1);
const warmUpMs = 400;
/** Longer than a terminal or npm takes to send the same signal once more. */
const secondAfterMs = 600;

/** `takenMs`: what was sent up to here after the signal must be answered: the grace, less what a busy machine is late. */
type Limits = {
  readonly env: Readonly<Record<string, string>>;
  readonly readyMs: number;
  readonly secondMs: number;
  readonly takenMs: number;
};
const limits = (long: boolean): Limits =>
  long
    ? { env: {}, readyMs: 100, secondMs: 200, takenMs: 900 }
    : { env: unhurried, readyMs: 10_000, secondMs: 60_000, takenMs: 1000 };

type Load = { readonly outcomes: Outcome[]; readonly ended: Promise<unknown> };

/** A third opens a connection for each request, a third keeps one busy, a third keeps one and rests between. */
function startClients(server: Server, random: Random): Load {
  const outcomes: Outcome[] = [];
  const client = async (index: number) => {
    const agent = index % 3 === 0 ? false : new Agent({ keepAlive: true, maxSockets: 1 });
    for (let up = true; up; ) {
      const outcome = await exchange(analysis(server, upload, { agent }));
      outcomes.push(outcome);
      up = outcome.status === 200 && outcome.error === null;
      if (index % 3 === 2) await sleep(random.below(600));
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
  random: Random,
  env: Readonly<Record<string, string>>,
  { takenMs, env: pace }: Limits,
): Promise<Ending> {
  return withServer({ ...settings, ...pace, ...env }, async (server) => {
    const { outcomes, ended } = startClients(server, random);
    await sleep(warmUpMs + random.below(200));
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
  const random = createRandom(seed);
  const endings: Ending[] = [];
  const repeats = count ?? (long ? 20 : 3);
  const progress = startProgress('shutdown', repeats);
  for (let index = 0; index < repeats; index++) {
    endings.push(await end(random, env, limits(long)));
    progress.advance();
  }
  progress.stop();
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
    exactly(0, {
      name: 'accepted requests broken',
      unit: 'requests',
      value: broken.length,
      note: reasons || note,
    }),
    atMost(readyMs, {
      name: '/ready says 503 after',
      unit: 'ms, largest',
      value: Number.isFinite(unready) ? unready : null,
    }),
    exactly(0, {
      name: 'ends with another exit code than 0',
      unit: 'times',
      value: endings.filter(({ code }) => code !== 0).length,
    }),
    told({
      name: 'turned away in the end',
      unit: 'requests',
      value: sum((one) => one.turnedAway),
      note: 'sent after the grace: refused before any byte was taken, or told 503',
    }),
    told({ name: 'from the signal to the end', unit: 'ms, largest', value: largest((one) => one.ms) }),
  ];
}

/** @returns how long the process lived after the second signal, and its exit code */
function signalTwice(
  random: Random,
  { env }: Limits,
): Promise<{ readonly ms: number; readonly code: number | null }> {
  return withServer({ ...settings, ...env }, async (server) => {
    const { ended } = startClients(server, random);
    await sleep(warmUpMs);
    server.process.kill('SIGTERM');
    await untilUnready(server);
    await sleep(secondAfterMs);
    const asked = performance.now();
    const { code } = await server.stop();
    const ms = performance.now() - asked;
    await ended;
    return { ms, code };
  });
}

export async function run(options: Options): Promise<readonly Row[]> {
  buildService();
  const allowed = limits(options.long);
  const rows = judge(await repeatedly(options), allowed);
  const second = await signalTwice(createRandom(options.seed), allowed);
  const abrupt = await repeatedly({ ...options, count: 1 }, plant('abrupt-end'));
  return [
    ...rows,
    atMost(allowed.secondMs, { name: 'a second signal ends it after', unit: 'ms', value: second.ms }),
    exactly(1, { name: 'exit code then', unit: 'code', value: second.code }),
    caught('a service that ends without waiting', judge(abrupt, allowed)),
  ];
}
