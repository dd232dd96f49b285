/** Four times as many requests as the service can do: what is taken stays quick, the rest is told at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../../benchmarks/percentile.ts';
import { atLeast, atMost, caught, exactly, type Options, type Row, told } from '../case.ts';
import { analysis, exchange, type Outcome } from '../load/exchange.ts';
import { type Generator, startGenerator } from '../load/generate.ts';
import type { Order } from '../load/generator.ts';
import { speechUpload } from '../load/speech.ts';
import { buildService, type Server, withServer } from '../service.ts';

const audioSeconds = 10;
const closedClients = 4;
const normalLoad = 0.8;
const overload = 4;
const probeEveryMs = 50;
/** As many requests in a row must be as quick as under normal load. */
const quickInARow = 5;
const giveUpMs = 120_000;
/** One worker: a core is left for the connections and for the generator, on a machine of two. */
const settings = { UNDERTONE_WORKERS: '1', UNDERTONE_LOG_LEVEL: 'warn' };

type Limits = {
  readonly slower: number;
  readonly refusedMs: number;
  readonly goodput: number;
  readonly recoveryMs: number;
  readonly healthMs: number;
  readonly unasked: number;
};

/**
 * The short form runs beside whatever else a machine does, and tells a collapse from none: its times are multiples of
 * what an accepted request takes under normal load in the same run (p99).
 */
const limits = (long: boolean, normalMs: number): Limits =>
  long
    ? { slower: 3, refusedMs: 50, goodput: 0.9, recoveryMs: 5000, healthMs: 50, unasked: 0.8 }
    : {
        slower: 30,
        refusedMs: 10 * normalMs,
        goodput: 0.15,
        recoveryMs: 100 * normalMs,
        healthMs: 10 * normalMs,
        unasked: 0.5,
      };
/** As quick as under normal load, in the short form as much work as it may have slowed down since. */
const quickness = { long: 1, short: 3 };

type Pressed = {
  readonly perSecond: number;
  readonly normalP99: number;
  readonly outcomes: readonly Outcome[];
  readonly goodput: number;
  readonly healthMs: readonly number[];
  readonly recoveryMs: number | null;
};

const taken = ({ status, error }: Outcome) => status === 200 && error === null;
const milliseconds = (outcomes: readonly Outcome[]) => outcomes.map(({ ms }) => ms);

async function probeHealth(port: number, over: () => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!over()) {
    const { status, ms } = await exchange({ port, path: '/health' });
    times.push(status === 200 ? ms : Number.POSITIVE_INFINITY);
    await sleep(probeEveryMs);
  }
  return times;
}

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
): Promise<Pressed> {
  const { port, token } = server;
  const send = (part: Pick<Order, 'pace'> & Partial<Order>) =>
    generator.send({ port, token, audioSeconds, seed, seconds, ...part });
  await send({ pace: { clients: closedClients }, seconds: 1 });
  const closed = await send({ pace: { clients: closedClients } });
  const perSecond = closed.filter(taken).length / seconds;
  const normal = await send({ pace: { perSecond: normalLoad * perSecond } });
  const normalP99 = percentile(milliseconds(normal.filter(taken)), 0.99) ?? Number.NaN;
  console.error(`overload: ${perSecond.toFixed(1)} requests/s, p99 ${normalP99.toFixed(0)} ms at 80 %`);
  let over = false;
  const health = probeHealth(port, () => over);
  const started = performance.now();
  const outcomes = await send({ pace: { perSecond: overload * perSecond } });
  over = true;
  const tookSeconds = (performance.now() - started) / 1000;
  const goodput = outcomes.filter(taken).length / tookSeconds / perSecond;
  const quickMs = await untilNormal(server, normalP99 * (long ? quickness.long : quickness.short));
  // Those that were still waiting when the last one was sent count as well.
  const recoveryMs = quickMs === null ? null : quickMs + 1000 * (tookSeconds - seconds);
  return { perSecond, normalP99, outcomes, goodput, healthMs: await health, recoveryMs };
}

function judge(pressed: Pressed, long: boolean): Row[] {
  const { outcomes, normalP99 } = pressed;
  const allowed = limits(long, normalP99);
  const accepted = milliseconds(outcomes.filter(taken));
  const refused = outcomes.filter(({ status, error }) => status === 503 && error === null);
  const acceptedP99 = percentile(accepted, 0.99);
  const polite = refused.filter(({ asked }) => asked !== null);
  return [
    told({
      name: 'capacity',
      unit: 'requests/s',
      value: pressed.perSecond,
      note: `${audioSeconds} s of WAV, one worker, ${closedClients} clients; p99 ${normalP99.toFixed(0)} ms at 80 %`,
    }),
    atMost(allowed.slower, {
      name: 'p99 of accepted at 4x, against 80 %',
      unit: 'ratio',
      value: acceptedP99 === null ? null : acceptedP99 / normalP99,
      note: `${accepted.length} accepted, ${refused.length} refused of ${outcomes.length}`,
    }),
    atLeast(allowed.goodput, { name: 'goodput, of capacity', unit: 'ratio', value: pressed.goodput }),
    exactly(0, {
      name: 'neither answered nor refused with Retry-After',
      unit: 'requests',
      value: outcomes.length - accepted.length - refused.filter(({ retryAfter }) => retryAfter).length,
    }),
    atMost(allowed.refusedMs, {
      name: 'refused within, p99',
      unit: 'ms',
      value: percentile(milliseconds(refused), 0.99),
      note: `largest ${Math.max(...milliseconds(refused)).toFixed(0)} ms`,
    }),
    atLeast(allowed.unasked, {
      name: 'refused before the body was asked for',
      unit: 'ratio',
      value: polite.length === 0 ? null : polite.filter(({ asked }) => !asked).length / polite.length,
      note: `of ${polite.length} refused that sent Expect: 100-continue`,
    }),
    atMost(allowed.healthMs, {
      name: '/health meanwhile, largest',
      unit: 'ms',
      value: Math.max(...pressed.healthMs),
      note: `${pressed.healthMs.length} times`,
    }),
    atMost(allowed.recoveryMs, { name: 'as quick as before after', unit: 'ms', value: pressed.recoveryMs }),
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
    return [...rows, caught('a queue without an end', judge(endless, options.long))];
  } finally {
    generator.stop();
  }
}
