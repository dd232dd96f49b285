/** Live sessions: random cuttings into frames, clients that vanish or attack, what one owner can take, and memory. */
import { installPackages } from '../../../benchmarks/packages.ts';
import { atMost, exactly, informational, negativeControl, none, type Options, type Row } from '../case.ts';
import { tools } from '../corpus/generate.ts';
import { type Attack, flood, garbage, idle, vanish } from '../stream/attacks.ts';
import { cuttingRows } from '../stream/cuttings.ts';
import { floodRows } from '../stream/floods.ts';
import { memoryRows } from '../stream/memory.ts';
import { ownerRows } from '../stream/owners.ts';
import { eventually, footprint, heldResources } from '../support/footprint.ts';
import { startHealthProbe } from '../support/health-probe.ts';
import { inParallel } from '../support/parallel.ts';
import { preload } from '../support/preload.ts';
import { createPrng } from '../support/prng.ts';
import { buildService, isUp, type Server, withServer } from '../support/service.ts';

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
