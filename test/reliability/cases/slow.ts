/** A thousand clients that send or read as slowly as they can, and what it costs everybody else. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../../benchmarks/percentile.ts';
import { atMost, caught, exactly, type Options, type Row } from '../case.ts';
import { analysis, exchange, type Outcome } from '../load/exchange.ts';
import { eventually, footprint, heldPlaces } from '../load/footprint.ts';
import { type SlowClient, type SlowKind, slowKinds, startSlowClients } from '../load/slow.ts';
import { speechUpload } from '../load/speech.ts';
import { buildService, type Server, withServer } from '../service.ts';

const upload = speechUpload(1);
const pauseMs = 25;

type Limits = {
  readonly connections: number;
  readonly openingMs: number;
  /** What UNDERTONE_DEADLINE_S is set to. */
  readonly requestSeconds: number;
  readonly headerSeconds: number;
  /** The service looks every half second, gives a refused client a second to read why, and may be busy. */
  readonly marginSeconds: number;
  /** What of the others' times is compared: the short form leaves out what else slows its machine for a moment. */
  readonly share: number;
  readonly slower: number;
};

const limits = ({ long, count }: Options): Limits =>
  long
    ? {
        connections: count ?? 1000,
        openingMs: 5000,
        requestSeconds: 30,
        headerSeconds: 10,
        marginSeconds: 3,
        share: 0.99,
        slower: 2,
      }
    : {
        connections: count ?? 180,
        openingMs: 1000,
        requestSeconds: 10,
        headerSeconds: 10,
        marginSeconds: 30,
        share: 0.5,
        slower: 8,
      };

type Beside = { stop(): Promise<readonly Outcome[]> };

/** A client like any other, one request after the other. */
function besideThem(server: Server): Beside {
  const agent = new Agent({ keepAlive: true });
  const outcomes: Outcome[] = [];
  let over = false;
  const work = async () => {
    while (!over) {
      outcomes.push(await exchange(analysis(server, upload, { agent })));
      await sleep(pauseMs);
    }
    agent.destroy();
    return outcomes;
  };
  const done = work();
  return {
    stop: () => {
      over = true;
      return done;
    },
  };
}

type Siege = {
  readonly before: readonly Outcome[];
  readonly during: readonly Outcome[];
  readonly clients: readonly SlowClient[];
  readonly openSockets: number;
  /** Until the service had no more descriptors open than before. */
  readonly freedSeconds: number | null;
  readonly held: number;
};

async function besiege(server: Server, allowed: Limits): Promise<Siege> {
  const { connections, openingMs, requestSeconds, marginSeconds } = allowed;
  const pid = server.process.pid as number;
  await exchange(analysis(server, upload));
  const alone = besideThem(server);
  await sleep(1000 * requestSeconds);
  const before = await alone.stop();
  const idle = footprint(pid).descriptors;
  const beside = besideThem(server);
  const slow = await startSlowClients(server, connections, openingMs);
  const opened = performance.now();
  let openSockets = 0;
  const freed = await eventually(
    () => {
      // One is of the client beside them.
      const open = footprint(pid).descriptors - idle - 1;
      openSockets = Math.max(openSockets, open);
      return open <= 0;
    },
    2000 * (requestSeconds + marginSeconds),
  );
  const freedSeconds = freed ? (performance.now() - opened) / 1000 : null;
  const during = await beside.stop();
  slow.stop();
  await eventually(async () => (await heldPlaces(server.port)) === 0);
  return {
    before,
    during,
    clients: slow.all,
    openSockets,
    freedSeconds,
    held: await heldPlaces(server.port),
  };
}

/** @returns seconds until the last one of a kind was closed, null when one was not */
function lastClosed(clients: readonly SlowClient[], kind: SlowKind): number | null {
  const seconds = clients
    .filter((client) => client.kind === kind)
    .map(({ startedAt, closedAt }) => ((closedAt ?? Number.POSITIVE_INFINITY) - startedAt) / 1000);
  const last = Math.max(...seconds);
  return Number.isFinite(last) ? last : null;
}

const milliseconds = (outcomes: readonly Outcome[]) => outcomes.map(({ ms }) => ms);

function closing({ clients, freedSeconds, openSockets }: Siege, allowed: Limits): Row[] {
  const { headerSeconds, requestSeconds, marginSeconds } = allowed;
  const rows = slowKinds
    .filter((kind) => kind !== 'reading')
    .map((kind) => {
      const limit = kind === 'silent' || kind === 'headers' ? headerSeconds : requestSeconds;
      return atMost(limit + marginSeconds, {
        name: `slow ${kind}: the last was closed after`,
        unit: 's',
        value: lastClosed(clients, kind),
        note: `limit ${limit} s`,
      });
    });
  return [
    ...rows,
    atMost(requestSeconds + marginSeconds, {
      name: 'all of them, slow reading too',
      unit: 's',
      value: freedSeconds,
      note: `${clients.length} connections, ${openSockets} open at one time`,
    }),
  ];
}

function judge(siege: Siege, allowed: Limits): Row[] {
  const { before, during, held } = siege;
  const normal = percentile(milliseconds(before), allowed.share);
  const besieged = percentile(milliseconds(during), allowed.share);
  const known = normal !== null && besieged !== null;
  return [
    ...closing(siege, allowed),
    atMost(allowed.slower, {
      name: `p${100 * allowed.share} of others meanwhile, against before`,
      unit: 'ratio',
      value: known ? besieged / normal : null,
      note: known ? `${besieged.toFixed(1)} ms against ${normal.toFixed(1)} ms; 1 s of WAV` : '',
    }),
    exactly(0, {
      name: 'requests of others not answered 200',
      unit: 'requests',
      value: during.filter(({ status, error }) => status !== 200 || error !== null).length,
      note: `of ${during.length}`,
    }),
    exactly(0, { name: 'bytes and places still held', unit: 'bytes', value: held }),
  ];
}

export async function run(options: Options): Promise<readonly Row[]> {
  buildService();
  const allowed = limits(options);
  const under = (deadline: number, expected: Limits) =>
    withServer({ UNDERTONE_DEADLINE_S: String(deadline), UNDERTONE_LOG_LEVEL: 'warn' }, (server) =>
      besiege(server, expected),
    );
  const rows = judge(await under(allowed.requestSeconds, allowed), allowed);
  const brief = limits({ ...options, long: false, count: null });
  const patient = closing(await under(600, brief), brief);
  return [...rows, caught('a service that gives a request ten minutes', patient)];
}
