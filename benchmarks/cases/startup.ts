/** From the start of the process to the line that says it is ready, and what it holds while nobody asks. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { figure, type Row, root, withinLimit } from '../case.ts';
import { residentMebibytes } from '../process.ts';
import { buildService, startService } from '../service.ts';

const starts = process.argv.includes('--long') ? 30 : 10;
const idleMs = 1000;
const readyMs = 400;
const idleMebibytes = 250;
const mebibyte = 2 ** 20;

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
  for (let index = 0; index <= starts; index++) {
    const service = await startService();
    await sleep(idleMs);
    // The first start reads everything from the disk.
    if (index > 0) ready.push(service.readyMs);
    if (index > 0) resident.push(residentMebibytes(service.pid));
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
    withinLimit(
      idleMebibytes + models,
      'resident memory, idle',
      'MiB',
      figure(resident),
      `${idleMebibytes} MiB and the models (${models.toFixed(1)} MiB)`,
    ),
  ];
}
