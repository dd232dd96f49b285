/** What it costs to analyse in processes of their own (UNDERTONE_ISOLATION=process) and not in threads. */
import { atMost, type Figure, figure, type Row } from '../case.ts';
import { percentile } from '../percentile.ts';
import { mainThreadMs, proportionalMebibytes } from '../process.ts';
import { ask, closeConnections, formOf, post, times } from '../request/client.ts';
import { buildService, type Service, startService } from '../service.ts';
import { speechFile } from '../speech.ts';
import { wavFile } from '../wav.ts';

const long = process.argv.includes('--long');
const rounds = long ? 36 : 12;
const warmUps = 50;
const workers = 2;
const connections = 32;
const headerBytes = 44;

/** 24.9 MiB: 136 s of stereo at 48 kHz. */
function largestForm(): Buffer {
  const samples = new Int16Array(new Uint8Array(speechFile(136).subarray(headerBytes)).buffer);
  const repeated = Float32Array.from(
    { length: 6 * samples.length },
    (_, at) => (samples[Math.floor(at / 6)] as number) / 32_768,
  );
  return formOf(wavFile(repeated, 48_000, 2));
}

const largest = largestForm();
const median = (values: readonly number[]) => figure(values)?.median ?? Number.NaN;
const p99 = (values: readonly number[]) => percentile(values, 0.99) ?? Number.NaN;

type Load = {
  readonly name: string;
  readonly requests: number;
  readonly run: (port: number) => Promise<readonly number[]>;
};

const loads: readonly Load[] = [
  { name: '10 s WAV', requests: 10, run: (port) => times(10, () => post(port)) },
  {
    name: '24.9 MiB WAV',
    requests: 3,
    run: (port) => times(3, async () => (await ask(port, '/v1/analyze', largest)).ms),
  },
  {
    name: `10 s WAV, ${connections} connections`,
    requests: 2 * connections,
    run: async (port) => {
      const clients = Array.from({ length: connections }, () => times(2, () => post(port)));
      return (await Promise.all(clients)).flat();
    },
  },
];

type Round = {
  readonly p50: number;
  readonly p99: number;
  readonly mainThread: number;
  readonly wall: number;
};

async function measure({ port, pid }: Service, { requests, run }: Load): Promise<Round> {
  const before = mainThreadMs(pid);
  const started = performance.now();
  const ms = await run(port);
  const wall = (performance.now() - started) / requests;
  return { p50: median(ms), p99: p99(ms), mainThread: (mainThreadMs(pid) - before) / requests, wall };
}

const show = (ratios: Figure | null) =>
  ratios === null
    ? ''
    : `ratio ${ratios.median.toFixed(2)} (${ratios.low.toFixed(2)}-${ratios.high.toFixed(2)})`;

/** Threads and processes take turns: the ratio of each round is that of one state of the machine. */
async function loadRows(services: readonly Service[], load: Load): Promise<Row[]> {
  const found: Round[][] = services.map(() => []);
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? [0, 1] : [1, 0];
    for (const at of order) found[at]?.push(await measure(services[at] as Service, load));
  }
  const [threads = [], processes = []] = found;
  return (['p50', 'p99', 'wall', 'mainThread'] as const).map((field) => {
    const ratios = processes.map((round, at) => round[field] / (threads[at] as Round)[field]);
    const values = (all: readonly Round[]) => figure(all.map((round) => round[field]));
    const note = `peer: threads; ${rounds} rounds of ${load.requests} requests; ${show(figure(ratios))}`;
    return atMost(1.03, {
      name: `${load.name}: ${field}`,
      unit: 'ms',
      peer: values(threads),
      ours: values(processes),
      note,
    });
  });
}

export async function run(): Promise<readonly Row[]> {
  buildService();
  const settings = {
    UNDERTONE_WORKERS: String(workers),
    UNDERTONE_QUEUE: '64',
    UNDERTONE_DEADLINE_S: '300',
    UNDERTONE_BUFFER_BYTES: String(2 ** 29),
  };
  const services = await Promise.all(
    ['thread', 'process'].map((kind) => startService({ ...settings, UNDERTONE_ISOLATION: kind })),
  );
  const memory = () => services.map(({ pid }) => figure([proportionalMebibytes(pid)]));
  const memoryRow = (goal: number, name: string, [peer = null, ours = null]: readonly (Figure | null)[]) =>
    atMost(goal, {
      name: `memory ${name}, ${workers} workers`,
      unit: 'MiB',
      peer,
      ours,
      note: 'peer: threads; all processes together, shared pages once',
    });
  const idle = memory();
  for (const { port } of services) await times(warmUps, () => post(port));
  const rows: Row[] = [];
  for (const load of loads) {
    rows.push(...(await loadRows(services, load)));
    rows.push(memoryRow(1.2, `after ${load.name}`, memory()));
  }
  closeConnections();
  for (const service of services) await service.stop();
  return [memoryRow(1.2, 'idle', idle), ...rows];
}
