/** The built service with as few rights as it needs, and models of which a byte is changed. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../../benchmarks/case.ts';
import { childrenOf } from '../../../benchmarks/process.ts';
import { atMost, caught, exactly, type Options, type Row } from '../case.ts';
import {
  type FenceOptions,
  interfacesOf,
  listeningSockets,
  privilegesOf,
  tryModels,
  withFence,
} from '../hardening/fence.ts';
import { createRandom, type Random } from '../load/random.ts';
import { requireRoot } from '../program.ts';
import { buildService } from '../service.ts';

const mebibytes = 512;
const places = [
  '/',
  '/tmp',
  '/var/tmp',
  '/var/log',
  '/dev/shm',
  root,
  join(root, 'dist'),
  join(root, 'models/standard'),
];

async function behindFence(options: FenceOptions): Promise<Row[]> {
  return withFence(options, async (fenced) => {
    const name = (what: string) => `${options.isolation}: ${what}`;
    const statuses = fenced.visit();
    const wrong = statuses.filter((status) => status !== 200);
    const pids = [fenced.pid, ...childrenOf(fenced.pid)];
    const privileges = pids.map(privilegesOf).filter(Boolean);
    const writable = places.filter(fenced.canWrite);
    const others = interfacesOf(fenced.pid).filter((one) => one !== 'lo');
    const sockets = listeningSockets(fenced.pid);
    return [
      exactly(0, {
        name: name('answers other than 200'),
        unit: `of ${statuses.length}`,
        value: wrong.length,
        note: 'probes, metrics, a page, sign-up, log-in, 20 analyses',
      }),
      exactly(0, {
        name: name('processes with a privilege'),
        unit: `of ${pids.length}`,
        value: privileges.length,
        note: privileges.join('; '),
      }),
      exactly(0, {
        name: name('places to write but the data folder'),
        unit: `of ${places.length}`,
        value: fenced.canWrite(fenced.dataDir) ? writable.length : null,
        note: writable.join(' '),
      }),
      exactly(0, {
        name: name('networks but the loopback'),
        unit: 'interfaces',
        value: others.length,
        note: others.join(' '),
      }),
      exactly(1, { name: name('sockets that wait'), unit: 'sockets', value: sockets }),
      atMost(mebibytes, { name: name('most memory'), unit: 'MiB', value: fenced.peakMebibytes() }),
      exactly(0, { name: name('exit code after SIGTERM'), unit: 'code', value: await fenced.stop() }),
    ];
  });
}

/** Changes one bit of a byte drawn by chance. */
function changeByte(path: string, random: Random): void {
  const bytes = readFileSync(path);
  const at = random.below(bytes.length);
  bytes[at] = (bytes[at] as number) ^ (1 << random.below(8));
  writeFileSync(path, bytes);
}

/** How many of the models, each changed alone, the service refuses by their hash. */
async function refusals(changes: number, random: Random, change: typeof changeByte): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-changed-'));
  try {
    let refused = 0;
    const names = readdirSync(join(root, 'models/standard'));
    for (let count = 0; count < changes; count++) {
      const name = names[count % names.length] as string;
      cpSync(join(root, 'models/standard'), folder, { recursive: true });
      change(join(folder, name, 'weights.onnx'), random);
      const ended = await tryModels(folder);
      if (ended !== null && ended.code !== 0 && ended.said.includes('weights.sha256')) refused++;
    }
    const note = `one bit of ${names.join(', ')}, in turns`;
    return [
      exactly(changes, { name: 'changed models refused', unit: 'models/standard', value: refused, note }),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function run({ long, seed, count }: Options): Promise<readonly Row[]> {
  requireRoot('hardening');
  buildService();
  const random = createRandom(seed);
  const changes = count ?? (long ? 40 : 4);
  return [
    ...(await behindFence({ isolation: 'thread', mebibytes, closed: true })),
    ...(await behindFence({ isolation: 'process', mebibytes, closed: true })),
    ...(await refusals(changes, random, changeByte)),
    caught('no fence', await behindFence({ isolation: 'thread', mebibytes, closed: false })),
    caught('models that nobody changed', await refusals(1, random, () => {})),
  ];
}
