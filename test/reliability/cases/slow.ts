/** A thousand clients that send or read very slowly, and their effect on others. */

import { readdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { contentType } from '../../../benchmarks/upload-body.ts';
import { percentile } from '../../../src/tools/evaluate/statistics.ts';
import { atMost, exactly, negativeControl, type Options, type Row } from '../case.ts';
import { eventually, footprint, heldResources } from '../support/footprint.ts';
import { analysis, exchange, type Outcome, speechUpload } from '../support/requests.ts';
import { buildService, preload, type Server, withServer } from '../support/service.ts';

const upload = speechUpload(1);
const pauseMs = 25;

type Limits = {
  readonly connections: number;
  readonly openingMs: number;
  /** UNDERTONE_DEADLINE_S. */
  readonly requestSeconds: number;
  readonly headerSeconds: number;
  /** The service checks every half second and allows a second to read the refusal. */
  readonly marginSeconds: number;
  /** For all, slow readers included: the service looks every 2 s at what they read, so that 30 s may become 34. */
  readonly readingSeconds: number;
  /** Percentile of the other clients' times; the short form uses the median. */
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
        readingSeconds: 35,
        share: 0.99,
        slower: 2,
      }
    : {
        connections: count ?? 180,
        openingMs: 1000,
        requestSeconds: 10,
        headerSeconds: 10,
        marginSeconds: 30,
        readingSeconds: 45,
        share: 0.5,
        slower: 8,
      };

type OtherClient = { stop(): Promise<readonly Outcome[]> };

/** A client that sends one request at a time. */
function startOtherClient(server: Server): OtherClient {
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

type Measured = {
  readonly before: readonly Outcome[];
  readonly during: readonly Outcome[];
  readonly clients: readonly SlowClient[];
  readonly openSockets: number;
  /** Until the service has no more descriptors open than before. */
  readonly freedSeconds: number | null;
  readonly held: number;
};

async function attackSlowly(server: Server, allowed: Limits): Promise<Measured> {
  const { connections, openingMs, requestSeconds, readingSeconds } = allowed;
  const pid = server.process.pid as number;
  await exchange(analysis(server, upload));
  const alone = startOtherClient(server);
  await sleep(1000 * requestSeconds);
  const before = await alone.stop();
  const idle = footprint(pid).descriptors;
  const other = startOtherClient(server);
  const slow = await startSlowClients(server, connections, openingMs);
  const opened = performance.now();
  let openSockets = 0;
  const freed = await eventually(
    () => {
      // One descriptor belongs to the other client.
      const open = footprint(pid).descriptors - idle - 1;
      openSockets = Math.max(openSockets, open);
      return open <= 0;
    },
    1000 * (readingSeconds + 1),
  );
  const freedSeconds = freed ? (performance.now() - opened) / 1000 : null;
  const during = await other.stop();
  slow.stop();
  await eventually(async () => (await heldResources(server.port)) === 0);
  return {
    before,
    during,
    clients: slow.all,
    openSockets,
    freedSeconds,
    held: await heldResources(server.port),
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

function closing({ clients, freedSeconds, openSockets }: Measured, allowed: Limits): Row[] {
  const { headerSeconds, requestSeconds, marginSeconds, readingSeconds } = allowed;
  const rows = slowKinds
    .filter((kind) => kind !== 'reading')
    .map((kind) => {
      const limit = kind === 'silent' || kind === 'headers' ? headerSeconds : requestSeconds;
      return atMost(
        limit + marginSeconds,
        `slow ${kind}: the last was closed after`,
        's',
        lastClosed(clients, kind),
        `limit ${limit} s`,
      );
    });
  return [
    ...rows,
    atMost(
      readingSeconds,
      'all connections, slow reading too',
      's',
      freedSeconds,
      `${clients.length} connections, ${openSockets} open at one time`,
    ),
  ];
}

function judge(measured: Measured, allowed: Limits): Row[] {
  const { before, during, held } = measured;
  const normal = percentile(milliseconds(before), allowed.share);
  const meanwhile = percentile(milliseconds(during), allowed.share);
  const known = normal !== null && meanwhile !== null;
  return [
    ...closing(measured, allowed),
    atMost(
      allowed.slower,
      `p${100 * allowed.share} of others meanwhile, against before`,
      'ratio',
      known ? meanwhile / normal : null,
      known ? `${meanwhile.toFixed(1)} ms against ${normal.toFixed(1)} ms; 1 s of WAV` : '',
    ),
    exactly(
      0,
      'requests of other clients not answered 200',
      'requests',
      during.filter(({ status, error }) => status !== 200 || error !== null).length,
      `of ${during.length}`,
    ),
    exactly(0, 'bytes and slots still reserved', 'bytes', held),
  ];
}

export async function run(options: Options): Promise<readonly Row[]> {
  buildService();
  const allowed = limits(options);
  const under = (expected: Limits, faults: Readonly<Record<string, string>> = {}) =>
    withServer(
      {
        UNDERTONE_DEADLINE_S: String(expected.requestSeconds),
        UNDERTONE_LOG_LEVEL: 'warn',
        ...faults,
      },
      (server) => attackSlowly(server, expected),
    );
  const rows = judge(await under(allowed), allowed);
  const shortLimits = limits({ ...options, long: false, count: null });
  const control = closing(await under(shortLimits, preload('unseen-responses')), shortLimits);
  return [...rows, negativeControl('responses that wait are not seen', control)];
}

// Clients that send headers or bodies, or read responses, very slowly.

const slowKinds = ['silent', 'headers', 'body', 'chunked body', 'body without a token', 'reading'] as const;
type SlowKind = (typeof slowKinds)[number];

type SlowClient = {
  readonly kind: SlowKind;
  readonly startedAt: number;
  /** When the service closed the connection; null while it has not. */
  closedAt: number | null;
  readonly socket: Socket;
};

type SlowClients = {
  readonly all: readonly SlowClient[];
  stop(): void;
};

const trickleMs = 500;

/** The sample of the pages four times, 1.3 MB each: more than the socket buffers hold. */
function bigAnswers(): string {
  const sample = readdirSync('dist/web/assets').find((name) => name.endsWith('.wav'));
  return `GET /assets/${sample} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(4);
}

type Behaviour = { readonly first: string; readonly trickle: string };

function behaviours(token: string): Record<SlowKind, Behaviour> {
  const head = (...lines: string[]) =>
    ['POST /v1/analyze HTTP/1.1', 'Host: x', `Content-Type: ${contentType}`, ...lines, '', ''].join('\r\n');
  const grant = `Authorization: Bearer ${token}`;
  return {
    silent: { first: '', trickle: '' },
    headers: { first: 'POST /v1/analyze HTTP/1.1\r\nHost: x\r\n', trickle: 'X-Slow: y\r\n' },
    body: { first: head(grant, 'Content-Length: 300000'), trickle: 'x' },
    'chunked body': { first: head(grant, 'Transfer-Encoding: chunked'), trickle: '1\r\nx\r\n' },
    'body without a token': { first: head('Content-Length: 300000'), trickle: 'x' },
    reading: { first: bigAnswers(), trickle: '' },
  };
}

function open(port: number, kind: SlowKind, { first }: Behaviour): SlowClient {
  const socket = connect({ port, host: '127.0.0.1' });
  const client: SlowClient = { kind, startedAt: performance.now(), closedAt: null, socket };
  const closed = () => {
    client.closedAt ??= performance.now();
  };
  socket.on('end', closed).on('close', closed).on('error', closed);
  if (kind === 'reading') socket.on('readable', () => undefined);
  else socket.resume();
  if (first !== '') socket.write(first);
  return client;
}

/** Equal numbers of each kind; each continues slowly until it is stopped. */
async function startSlowClients(
  { port, token }: { readonly port: number; readonly token: string },
  count: number,
  overMs: number,
): Promise<SlowClients> {
  const kinds = behaviours(token);
  const all: SlowClient[] = [];
  const trickle = setInterval(() => {
    for (const { kind, socket } of all) {
      if (kind === 'reading') socket.read(1);
      else if (socket.writable && !socket.connecting) socket.write(kinds[kind].trickle);
    }
  }, trickleMs);
  for (let index = 0; index < count; index++) {
    const kind = slowKinds[index % slowKinds.length] as SlowKind;
    all.push(open(port, kind, kinds[kind]));
    if (index % 10 === 9) await sleep((10 * overMs) / count);
  }
  const stop = () => {
    clearInterval(trickle);
    for (const { socket } of all) socket.destroy();
  };
  return { all, stop };
}
