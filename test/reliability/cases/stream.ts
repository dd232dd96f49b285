/** Live sessions: random cuttings into frames, clients that vanish or attack, what one owner can take, and memory. */

import { setTimeout as sleep } from 'node:timers/promises';
import { installPackages } from '../../../benchmarks/packages.ts';
import { residentMebibytes } from '../../../benchmarks/process.ts';
import { connectStream, speechSamples } from '../../support/stream-client.ts';
import {
  atMost,
  exactly,
  informational,
  negativeControl,
  none,
  type Options,
  type Row,
  within,
} from '../case.ts';
import { tools } from '../corpus/encodings.ts';
import { openAccount } from '../support/account.ts';
import {
  eventually,
  footprint,
  growthRows,
  heldResources,
  lowest,
  type Point,
  robustSlope,
} from '../support/footprint.ts';
import { type Attack, flood, floodRows, garbage, idle, vanish } from '../support/live-attacks.ts';
import { cuttingRows } from '../support/live-cuttings.ts';
import { inParallel } from '../support/parallel.ts';
import { createPrng } from '../support/prng.ts';
import { startHealthProbe } from '../support/requests.ts';
import { buildService, isUp, preload, type Server, withServer } from '../support/service.ts';

const attacks: Readonly<Record<string, { readonly attack: Attack; readonly atOnce: number }>> = {
  vanish: { attack: vanish, atOnce: 16 },
  garbage: { attack: garbage, atOnce: 16 },
  flood: { attack: flood, atOnce: 8 },
  idle: { attack: idle, atOnce: 500 },
};
const settings = {
  UNDERTONE_LOG_LEVEL: 'warn',
  UNDERTONE_DEADLINE_S: '600',
  UNDERTONE_STREAM_SESSIONS: '10000',
};

/** As many sessions as with two workers by default. */
const usual = { UNDERTONE_LOG_LEVEL: 'warn', UNDERTONE_WORKERS: '2' };

/** A heap grows to its working size in its first thousands of sessions: the short form finds leaks above that alone. */
const limits = ({ long, count }: Options) =>
  long
    ? { recordings: 200, cuttings: count ?? 10_000, each: 5000, sessions: 5000, mebibytes: 2, leaked: 64 }
    : { recordings: 12, cuttings: count ?? 36, each: 40, sessions: 200, mebibytes: 1500, leaked: 4096 };

/** What `count` clients of a kind leave behind. */
async function attackRows(server: Server, name: string, count: number, seed: number): Promise<Row[]> {
  const { attack, atOnce } = attacks[name] as (typeof attacks)[string];
  const pid = server.process.pid as number;
  const before = footprint(pid);
  const health = startHealthProbe(server.port);
  const unexpected: string[] = [];
  const indexes = Array.from({ length: count }, (_, index) => index);
  const one = (index: number) =>
    attack(server, createPrng(seed, index)).catch((error) => unexpected.push(String(error)));
  await inParallel(indexes, atOnce, one, name);
  const { maxMs } = await health.stop();
  const isFree = async () => (await heldResources(server.port)) === 0;
  await eventually(async () => !isUp(server) || (await isFree()));
  const held = isUp(server) ? await heldResources(server.port) : null;
  await eventually(() => !isUp(server) || footprint(pid).descriptors <= before.descriptors);
  const gained = isUp(server) ? footprint(pid).descriptors - before.descriptors : null;
  return [
    none(`${name}: unexpected outcomes`, [...new Set(unexpected)], count),
    exactly(0, `${name}: crashes`, 'number', isUp(server) ? 0 : 1),
    exactly(0, `${name}: sessions, bytes and workers still reserved`, 'number', held),
    atMost(0, `${name}: descriptors gained`, 'number', gained),
    informational(`${name}: slowest response of /health meanwhile`, 'ms', maxMs),
  ];
}

export async function run(options: Options): Promise<readonly Row[]> {
  installPackages(tools);
  buildService();
  const { seed } = options;
  const { recordings, cuttings, each, sessions, mebibytes, leaked } = limits(options);
  const few = limits({ ...options, long: false }).sessions;
  const rows = await withServer(settings, async (server) => [
    ...(await cuttingRows(server, { recordings, cuttings }, seed)),
    ...(await attackRows(server, 'vanish', each, seed)),
    ...(await attackRows(server, 'garbage', each, seed)),
    ...(await attackRows(server, 'flood', each, seed)),
    // The same service analyses as before.
    negativeControl(
      'the last frame is lost',
      await cuttingRows(server, { recordings: 2, cuttings: 2, lossy: true }, seed),
    ),
  ]);
  const silent = await withServer({ ...settings, UNDERTONE_STREAM_IDLE_S: '1' }, (server) =>
    attackRows(server, 'idle', each, seed),
  );
  const owners = await withServer({ ...usual, UNDERTONE_SIGNUP: 'open' }, (server) =>
    ownerRows(server, options),
  );
  const floods = await withServer(usual, (server) => floodRows(server, options));
  const unlimited = await withServer({ ...usual, ...preload('unlimited-frames') }, (server) =>
    floodRows(server, options, 1),
  );
  const gc = { ...settings, ...preload('periodic-gc') };
  const memory = await withServer(gc, (server) => memoryRows(server, sessions, mebibytes));
  const leak = { ...settings, ...preload('periodic-gc', 'leaked-sockets'), LEAKED_BYTES: `${1024 * leaked}` };
  const leaky = await withServer(leak, (server) => memoryRows(server, few, mebibytes));
  return [
    ...rows,
    ...silent,
    ...owners,
    ...floods,
    negativeControl('no limits of frames', unlimited),
    ...memory,
    negativeControl(`${leaked} kB leaked by every connection`, leaky),
  ];
}

// Whole sessions one after the other: memory, descriptors and threads do not grow.

const clients = 4;
const warmUpShare = 0.25;
const stretches = 12;
const per = { count: 1000, what: 'sessions' };
const speech = speechSamples(1);

async function session({ port, token }: Server): Promise<void> {
  const { send, socket, closed } = await connectStream(port, { token });
  send({ type: 'session.configure', encoding: 's16le', sample_rate_hz: 16_000, channels: 1, interval_s: 1 });
  for (let at = 0; at < speech.length; at += 6400) socket.send(speech.subarray(at, at + 6400));
  send({ type: 'session.end' });
  const { code } = await closed;
  if (code !== 1000) throw new Error(`Expected 1000 for a whole session, got ${code}`);
}

/** The service collects garbage every second. */
async function memoryRows(server: Server, sessions: number, maxMebibytes: number): Promise<Row[]> {
  const pid = server.process.pid as number;
  const memory: Point[] = [];
  const pass = (from: number, to: number) =>
    inParallel(
      Array.from({ length: to - from }, (_, index) => from + index),
      clients,
      async (x) => {
        await session(server);
        memory.push({ x, y: residentMebibytes(pid) });
      },
      'sessions',
    );
  const warmUp = Math.round(warmUpShare * sessions);
  await pass(0, warmUp);
  await sleep(1500);
  const before = footprint(pid);
  memory.length = 0;
  await pass(warmUp, sessions);
  await eventually(async () => (await heldResources(server.port)) === 0);
  const held = await heldResources(server.port);
  await eventually(() => footprint(pid).descriptors <= before.descriptors);
  const slope = robustSlope(lowest(memory, stretches));
  return growthRows({ before, after: footprint(pid), slope, held }, maxMebibytes, per);
}

// Live sessions that one owner opens and sends nothing on.

/** Of a service with two workers. */
const sessions = 64;
const maxClosedSeconds = 15;

/** Opens sessions until one is refused. @returns how many */
async function openAll({ port }: Server, token: string): Promise<number> {
  for (let count = 0; ; count++) {
    const session = await connectStream(port, { token }).catch(() => null);
    if (session === null) return count;
  }
}

/** @param server that nobody has used, with open sign-up */
async function ownerRows(server: Server, options: Options): Promise<Row[]> {
  const isFree = async () => (await heldResources(server.port)) === 0;
  // Until the service has counted the owners.
  let alone = 0;
  await eventually(async () => {
    alone += await openAll(server, server.token);
    return alone >= sessions;
  });
  const opened = performance.now();
  const closed = await eventually(isFree);
  const seconds = (performance.now() - opened) / 1000;
  const other = await openAccount(server, 'other');
  let ofTwo = sessions;
  await eventually(async () => {
    ofTwo = await openAll(server, server.token);
    const isShared = ofTwo < sessions;
    if (!isShared) await eventually(isFree);
    return isShared;
  });
  const ofOther = await openAll(server, other.token);
  return [
    exactly(sessions, 'sessions of the only owner', 'sessions', alone),
    within(
      maxClosedSeconds,
      options,
      'sessions without session.configure: the last is closed after',
      's',
      closed ? seconds : null,
    ),
    exactly(sessions / 2, 'sessions of one owner when there is another', 'sessions', ofTwo),
    exactly(sessions / 2, 'sessions of the other owner', 'sessions', ofOther),
  ];
}
