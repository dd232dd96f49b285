/** Four times the capacity, then clients that ignore refusals: accepted requests stay fast, the rest is refused at once. */
import { percentile } from '../../../src/tools/evaluate/statistics.ts';
import { atLeast, atMost, exactly, informational, negativeControl, type Options, type Row } from '../case.ts';
import { type Generator, type Order, startGenerator } from '../support/load-generator.ts';
import {
  analysis,
  exchange,
  type Health,
  type Outcome,
  speechUpload,
  startHealthProbe,
} from '../support/requests.ts';
import { buildService, type Server, withServer } from '../support/service.ts';

const audioSeconds = 10;
const closedClients = 4;
/** They ignore `Retry-After` and send their next upload at once. */
const retryingClients = 64;
const normalLoad = 0.8;
const overload = 4;
const probeEveryMs = 50;
/** So many consecutive requests as fast as under normal load. */
const quickInARow = 5;
const giveUpMs = 120_000;
/** One worker, so that connections and load generator have a core on a machine with two. */
const settings = { UNDERTONE_WORKERS: '1', UNDERTONE_LOG_LEVEL: 'warn' };

type Limits = {
  readonly slower: number;
  readonly refusedMs: number;
  readonly goodput: number;
  readonly retryingGoodput: number;
  readonly recoveryMs: number;
  readonly healthMs: number;
  readonly unasked: number;
};

/**
 * The short form runs in parallel with other work of the machine, and only detects a collapse: its times are multiples of
 * what an accepted request takes under normal load in the same run (p99).
 */
const limits = (long: boolean, normalMs: number): Limits =>
  long
    ? {
        slower: 3,
        refusedMs: 50,
        goodput: 0.9,
        retryingGoodput: 0.7,
        recoveryMs: 5000,
        healthMs: 50,
        unasked: 0.8,
      }
    : {
        slower: 30,
        refusedMs: 10 * normalMs,
        goodput: 0.15,
        retryingGoodput: 0.05,
        recoveryMs: 100 * normalMs,
        healthMs: 10 * normalMs,
        unasked: 0.5,
      };
/** Recovered: as fast as under normal load; the short form allows a factor. */
const quickness = { long: 1, short: 3 };

type Measured = {
  readonly perSecond: number;
  readonly normalP99: number;
  readonly outcomes: readonly Outcome[];
  readonly goodput: number;
  readonly retrying: readonly Outcome[];
  /** Accepted requests of `retrying` per second. */
  readonly retryingPerSecond: number;
  readonly health: Health;
  readonly recoveryMs: number | null;
};

const taken = ({ status, error }: Outcome) => status === 200 && error === null;
const milliseconds = (outcomes: readonly Outcome[]) => outcomes.map(({ ms }) => ms);

/** One request after the other. @returns when the first of some quick ones was sent */
async function untilNormal(server: Server, normalMs: number): Promise<number | null> {
  const body = speechUpload(audioSeconds);
  const started = performance.now();
  let quick: Outcome[] = [];
  while (performance.now() - started < giveUpMs) {
    const outcome = await exchange(analysis(server, body));
    quick = taken(outcome) && outcome.ms <= normalMs ? [...quick, outcome] : [];
    if (quick.length === quickInARow) return (quick[0] as Outcome).startedAt - started;
  }
  return null;
}

/** Capacity, then normal load, then too much of it, then none. */
async function press(
  generator: Generator,
  server: Server,
  { seed, long }: Options,
  seconds: number,
): Promise<Measured> {
  const { port, token } = server;
  const send = (part: Pick<Order, 'pace'> & Partial<Order>) =>
    generator.send({ port, token, audioSeconds, seed, seconds, ...part });
  await send({ pace: { clients: closedClients }, seconds: 1 });
  const closed = await send({ pace: { clients: closedClients } });
  const perSecond = closed.filter(taken).length / seconds;
  const normal = await send({ pace: { perSecond: normalLoad * perSecond } });
  const normalP99 = percentile(milliseconds(normal.filter(taken)), 0.99) ?? Number.NaN;
  console.error(`overload: ${perSecond.toFixed(1)} requests/s, p99 ${normalP99.toFixed(0)} ms at 80 %`);
  const probe = startHealthProbe(port, probeEveryMs);
  const started = performance.now();
  const outcomes = await send({ pace: { perSecond: overload * perSecond } });
  const health = await probe.stop();
  const tookSeconds = (performance.now() - started) / 1000;
  const goodput = outcomes.filter(taken).length / tookSeconds / perSecond;
  const quickMs = await untilNormal(server, normalP99 * (long ? quickness.long : quickness.short));
  // Requests that were queued at the end of the load count as well.
  const recoveryMs = quickMs === null ? null : quickMs + 1000 * (tookSeconds - seconds);
  const retryingStarted = performance.now();
  const retrying = await send({ pace: { clients: retryingClients } });
  const retryingPerSecond = (1000 * retrying.filter(taken).length) / (performance.now() - retryingStarted);
  return { perSecond, normalP99, outcomes, goodput, retrying, retryingPerSecond, health, recoveryMs };
}

function judge(pressed: Measured, long: boolean): Row[] {
  const { outcomes, normalP99 } = pressed;
  const allowed = limits(long, normalP99);
  const accepted = milliseconds(outcomes.filter(taken));
  const refused = outcomes.filter(({ status, error }) => status === 503 && error === null);
  const acceptedP99 = percentile(accepted, 0.99);
  const polite = refused.filter(({ asked }) => asked !== null);
  return [
    informational(
      'capacity',
      'requests/s',
      pressed.perSecond,
      `${audioSeconds} s of WAV, one worker, ${closedClients} clients; p99 ${normalP99.toFixed(0)} ms at 80 %`,
    ),
    atMost(
      allowed.slower,
      'p99 of accepted at 4x, against 80 %',
      'ratio',
      acceptedP99 === null ? null : acceptedP99 / normalP99,
      `${accepted.length} accepted, ${refused.length} refused of ${outcomes.length}`,
    ),
    atLeast(allowed.goodput, 'goodput, of capacity', 'ratio', pressed.goodput),
    atLeast(
      allowed.retryingGoodput,
      `goodput with ${retryingClients} clients that ignore Retry-After`,
      'ratio',
      pressed.retryingPerSecond / pressed.perSecond,
      `${pressed.retrying.filter(taken).length} accepted of ${pressed.retrying.length}`,
    ),
    exactly(
      0,
      'neither answered nor refused with Retry-After',
      'requests',
      outcomes.length - accepted.length - refused.filter(({ retryAfter }) => retryAfter).length,
    ),
    atMost(
      allowed.refusedMs,
      'refused within, p99',
      'ms',
      percentile(milliseconds(refused), 0.99),
      `largest ${Math.max(...milliseconds(refused)).toFixed(0)} ms`,
    ),
    atLeast(
      allowed.unasked,
      'refused without 100 Continue',
      'ratio',
      polite.length === 0 ? null : polite.filter(({ asked }) => !asked).length / polite.length,
      `of ${polite.length} refused that sent Expect: 100-continue`,
    ),
    atMost(
      allowed.healthMs,
      '/health meanwhile, largest',
      'ms',
      pressed.health.failed > 0 ? null : pressed.health.maxMs,
      `${pressed.health.requests} times`,
    ),
    atMost(allowed.recoveryMs, 'normal latency again after', 'ms', pressed.recoveryMs),
  ];
}

export async function run(options: Options): Promise<readonly Row[]> {
  buildService();
  const seconds = options.count ?? (options.long ? 60 : 5);
  const generator = startGenerator();
  const pressed = (env: Readonly<Record<string, string>>, length: number) =>
    withServer({ ...settings, ...env }, (server) => press(generator, server, options, length));
  try {
    const rows = judge(await pressed({}, seconds), options.long);
    const endless = await pressed({ UNDERTONE_QUEUE: '100000' }, Math.min(seconds, 10));
    return [...rows, negativeControl('an unbounded queue', judge(endless, options.long))];
  } finally {
    generator.stop();
  }
}
