/** Large uploads that exceed a memory limit. */
import { setTimeout as sleep } from 'node:timers/promises';
import { multipart, toneFile } from '../../../benchmarks/upload-body.ts';
import { exactly, type Row } from '../case.ts';
import { preload } from '../support/preload.ts';
import { isUp, type Server, withServer } from '../support/service.ts';
import { ask } from '../support/upload.ts';
import { limitMemory } from './control-group.ts';

const limitMebibytes = 400;
const uploads = 6;
const recoverWithinMs = 20_000;

async function recovered(server: Server): Promise<boolean> {
  const until = performance.now() + recoverWithinMs;
  while (performance.now() < until && isUp(server)) {
    if ((await ask(server, 'small')).status === 200) return true;
    await sleep(100);
  }
  return false;
}

export async function littleMemory(isolation: 'thread' | 'process'): Promise<Row[]> {
  const group = limitMemory(limitMebibytes);
  const settings = {
    UNDERTONE_ISOLATION: isolation,
    UNDERTONE_WORKERS: '2',
    UNDERTONE_LOG_LEVEL: 'silent',
    UNDERTONE_BUFFER_BYTES: String(48 * 2 ** 20),
    CONTROL_GROUP: group.folder,
    ...preload('join-cgroup'),
  };
  const body = new Uint8Array(multipart([{ name: 'audio', bytes: toneFile(700), type: 'audio/wav' }]));
  try {
    return await withServer(settings, async (server) => {
      const answers = await Promise.all(Array.from({ length: uploads }, () => ask(server, 'large', body)));
      const statuses = answers.map(({ status }) => status);
      const well = await recovered(server);
      return [
        exactly(
          0,
          `memory: uploads of 22 MB not answered 200, 413 or 503`,
          `of ${uploads}`,
          statuses.filter((status) => ![200, 413, 503].includes(status)).length,
          `${limitMebibytes} MiB for all processes; got ${statuses.sort().join(', ')}`,
        ),
        exactly(1, 'memory: analyses afterwards', 'found', well ? 1 : 0),
        exactly(0, 'memory: the service ended', 'times', isUp(server) ? 0 : 1),
      ];
    });
  } finally {
    await group.remove();
  }
}
