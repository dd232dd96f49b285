/** From the start of the process to the line that says it is ready, what it holds while nobody asks, and the first request. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, figure, type Row, root, withinLimit } from '../case.ts';
import { residentMebibytes } from '../process.ts';
import { ask, buildService, closeConnections, formOf, recording, startService } from '../service.ts';

const starts = process.argv.includes('--long') ? 30 : 10;
const idleMs = 1000;
const readyMs = 400;
const idleMebibytes = 250;
const mebibyte = 2 ** 20;
/** The median of these follows the first request. */
const requests = 10;

function modelsMebibytes(): number {
  const folder = join(root, 'models/standard');
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const files = folders.map(({ name }) => join(folder, name, 'weights.onnx'));
  return files.reduce((sum, file) => sum + statSync(file).size, 0) / mebibyte;
}

export async function run(): Promise<readonly Row[]> {
  buildService();
  const ready: number[] = [];
  const resident: number[] = [];
  const [first, later]: [number[], number[]] = [[], []];
  const form = formOf(recording);
  for (let index = 0; index <= starts; index++) {
    const service = await startService();
    await sleep(idleMs);
    // The first start reads everything from the disk.
    if (index > 0) ready.push(service.readyMs);
    if (index > 0) resident.push(residentMebibytes(service.pid));
    const post = async () => (await ask(service.port, '/v1/analyze', form)).ms;
    if (index > 0) first.push(await post());
    const others: number[] = [];
    while (index > 0 && others.length < requests) others.push(await post());
    later.push(...others);
    closeConnections();
    await service.stop();
  }
  const models = modelsMebibytes();
  return [
    withinLimit(
      readyMs,
      'ready after start',
      'ms',
      figure(ready),
      `${starts} starts, a worker for each core`,
    ),
    atMost(1.5, {
      name: 'first request',
      unit: 'ms',
      peer: figure(later),
      ours: figure(first),
      note: `10 s of speech; peer: the ${requests} that follow`,
    }),
    withinLimit(
      idleMebibytes + models,
      'resident memory, idle',
      'MiB',
      figure(resident),
      `${idleMebibytes} MiB and the models (${models.toFixed(1)} MiB)`,
    ),
  ];
}
