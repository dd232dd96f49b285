/** Resident memory of the service: idle, after short requests, and after short requests that follow long recordings. */
import { atMost, type Figure, figure, type Row } from '../case.ts';
import { peakMebibytes, residentMebibytes } from '../process.ts';
import {
  analyze,
  ask,
  buildService,
  closeConnections,
  closedLoop,
  formOf,
  startService,
} from '../service.ts';
import { speechFile } from '../speech.ts';
import { memoryRows } from '../tables.ts';

const starts = process.argv.includes('--long') ? 5 : 2;
const workers = 2;
const connections = 8;
const requests = 1000;
const recordings = 6;
const minutes = 13;

type State = 'idle' | 'before' | 'peak' | 'between' | 'after';
type Sizes = Readonly<Record<State, number>>;

/** MiB, in one process from its start on. */
async function measureStart(recording: Buffer): Promise<Sizes> {
  const { port, pid, stop } = await startService({ UNDERTONE_WORKERS: String(workers) });
  const loaded = async () => {
    await closedLoop(connections, requests, async () => (await analyze(port)).ms);
    return residentMebibytes(pid);
  };
  try {
    const idle = residentMebibytes(pid);
    const before = await loaded();
    await closedLoop(workers, recordings, async () => (await ask(port, '/v1/analyze', recording)).ms);
    const between = residentMebibytes(pid);
    return { idle, before, peak: peakMebibytes(pid), between, after: await loaded() };
  } finally {
    closeConnections();
    await stop();
  }
}

function informational(name: string, ours: Figure | null, note: string): Row {
  return { name, unit: 'MiB', peer: null, ours, goal: 'none', ratio: null, met: ours !== null, note };
}

export async function run(): Promise<readonly Row[]> {
  buildService();
  const recording = formOf(speechFile(minutes * 60));
  const found: Sizes[] = [];
  for (let index = 0; index < starts; index++) found.push(await measureStart(recording));
  const of = (state: State) => figure(found.map((sizes) => sizes[state]));
  const short = `${requests} requests of 10 s, ${connections} connections`;
  return [
    informational(memoryRows.idle, of('idle'), `${workers} workers, warmed up; ${starts} starts`),
    informational(memoryRows.before, of('before'), short),
    informational(
      'peak, in long recordings',
      of('peak'),
      `${recordings} of ${minutes} minutes, two at a time`,
    ),
    informational('resident, after long recordings', of('between'), ''),
    atMost(1.2, {
      name: memoryRows.after,
      unit: 'MiB',
      peer: of('before'),
      ours: of('after'),
      note: `${short}; peer: before the long recordings`,
    }),
  ];
}
