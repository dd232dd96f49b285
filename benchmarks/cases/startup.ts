/** From the start of the process to the line that says it is ready, what it holds while nobody asks, and the first request. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, figure, type Row, root, withinLimit } from '../case.ts';
import { installNpm } from '../packages.ts';
import { residentMebibytes } from '../process.ts';
import { ask, buildService, closeConnections, formOf, recording, startService } from '../service.ts';

const starts = process.argv.includes('--long') ? 30 : 10;
const readyMs = 400;
const idleMebibytes = 250;
const mebibyte = 2 ** 20;
/** Those that follow the first. */
const requests = 10;
const nodeName = `node-linux-${process.arch}`;
const nodePackage = [`${nodeName}@22.23.3`] as const;
const nodeProgram = join('node_modules', nodeName, 'bin', 'node');

function modelsMebibytes(): number {
  const folder = join(root, 'models/standard');
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const files = folders.map(({ name }) => join(folder, name, 'weights.onnx'));
  return files.reduce((sum, file) => sum + statSync(file).size, 0) / mebibyte;
}

type Starts = Readonly<Record<'ready' | 'first' | 'later' | 'resident', readonly number[]>>;

/** Of starts with one data folder, in which Node.js 22 keeps compiled code. */
async function measure(node: string): Promise<Starts> {
  const found = {
    ready: [] as number[],
    first: [] as number[],
    later: [] as number[],
    resident: [] as number[],
  };
  const form = formOf(recording);
  const dataDir = mkdtempSync(join(tmpdir(), 'undertone-bench-'));
  for (let index = 0; index <= starts; index++) {
    const service = await startService({ UNDERTONE_DATA_DIR: dataDir }, [], root, [], node);
    const post = async () => (await ask(service.port, '/v1/analyze', form)).ms;
    const resident = residentMebibytes(service.pid);
    const first = await post();
    const later: number[] = [];
    while (later.length < requests) later.push(await post());
    closeConnections();
    await service.stop();
    // The first start reads everything from the disk.
    if (index === 0) continue;
    found.ready.push(service.readyMs);
    found.resident.push(resident);
    found.first.push(first);
    found.later.push(...later);
  }
  rmSync(dataDir, { recursive: true });
  return found;
}

function rowsOf({ ready, first, later }: Starts, suffix: string): readonly Row[] {
  const note = `${starts} starts, a worker for each core`;
  return [
    withinLimit(readyMs, `ready after start${suffix}`, 'ms', figure(ready), note),
    atMost(1.2, {
      name: `first request${suffix}`,
      unit: 'ms',
      peer: figure(later),
      ours: figure(first),
      note: `10 s of speech; peer: the ${requests} that follow`,
    }),
  ];
}

export async function run(): Promise<readonly Row[]> {
  buildService();
  const here = await measure(process.execPath);
  const caching = await measure(join(installNpm(...nodePackage), nodeProgram));
  const models = modelsMebibytes();
  return [
    ...rowsOf(here, ''),
    ...rowsOf(caching, ', Node.js 22, which keeps compiled code'),
    withinLimit(
      idleMebibytes + models,
      'resident memory, idle',
      'MiB',
      figure(here.resident),
      `${idleMebibytes} MiB and the models (${models.toFixed(1)} MiB)`,
    ),
  ];
}
