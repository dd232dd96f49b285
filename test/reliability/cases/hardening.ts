/** The service without privileges, and models with a flipped bit. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../../benchmarks/case.ts';
import { childrenOf } from '../../../benchmarks/process.ts';
import { atMost, exactly, negativeControl, type Options, type Row } from '../case.ts';
import {
  interfacesOf,
  listeningSockets,
  privilegesOf,
  type SandboxOptions,
  startWithModels,
  withSandbox,
} from '../hardening/sandbox.ts';
import { createPrng, type Prng } from '../support/prng.ts';
import { requireRoot } from '../support/program.ts';
import { buildService } from '../support/service.ts';

const mebibytes = 512;
const folders = [
  '/',
  '/tmp',
  '/var/tmp',
  '/var/log',
  '/dev/shm',
  root,
  join(root, 'dist'),
  join(root, 'models/standard'),
];

async function insideSandbox(options: SandboxOptions): Promise<Row[]> {
  return withSandbox(options, async (sandboxed) => {
    const name = (what: string) => `${options.isolation}: ${what}`;
    const statuses = sandboxed.smoke();
    const wrong = statuses.filter((status) => status !== 200);
    const pids = [sandboxed.pid, ...childrenOf(sandboxed.pid)];
    const privileges = pids.map(privilegesOf).filter(Boolean);
    const writable = folders.filter(sandboxed.canWrite);
    const others = interfacesOf(sandboxed.pid).filter((one) => one !== 'lo');
    const sockets = listeningSockets(sandboxed.pid);
    return [
      exactly(
        0,
        name('answers other than 200'),
        `of ${statuses.length}`,
        wrong.length,
        'probes, metrics, a page, sign-up, log-in, 20 analyses',
      ),
      exactly(
        0,
        name('processes with a privilege'),
        `of ${pids.length}`,
        privileges.length,
        privileges.join('; '),
      ),
      exactly(
        0,
        name('writable folders besides the data folder'),
        `of ${folders.length}`,
        sandboxed.canWrite(sandboxed.dataDir) ? writable.length : null,
        writable.join(' '),
      ),
      exactly(0, name('network interfaces besides loopback'), 'interfaces', others.length, others.join(' ')),
      exactly(1, name('listening sockets'), 'sockets', sockets),
      atMost(mebibytes, name('most memory'), 'MiB', sandboxed.peakMebibytes()),
      exactly(0, name('exit code after SIGTERM'), 'code', await sandboxed.stop()),
    ];
  });
}

/** Flips one random bit. */
function changeByte(path: string, prng: Prng): void {
  const bytes = readFileSync(path);
  const at = prng.below(bytes.length);
  bytes[at] = (bytes[at] as number) ^ (1 << prng.below(8));
  writeFileSync(path, bytes);
}

/** Number of models refused by their hash, each modified alone. */
async function refusals(changes: number, prng: Prng, change: typeof changeByte): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-changed-'));
  try {
    let refused = 0;
    const names = readdirSync(join(root, 'models/standard'));
    for (let count = 0; count < changes; count++) {
      const name = names[count % names.length] as string;
      cpSync(join(root, 'models/standard'), folder, { recursive: true });
      change(join(folder, name, 'weights.onnx'), prng);
      const ended = await startWithModels(folder);
      if (ended !== null && ended.code !== 0 && ended.said.includes('weights.sha256')) refused++;
    }
    const note = `one bit of ${names.join(', ')}, in turns`;
    return [exactly(changes, 'modified models refused', 'models/standard', refused, note)];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function run({ long, seed, count }: Options): Promise<readonly Row[]> {
  requireRoot('hardening');
  buildService();
  const prng = createPrng(seed);
  const changes = count ?? (long ? 40 : 4);
  return [
    ...(await insideSandbox({ isolation: 'thread', mebibytes, closed: true })),
    ...(await insideSandbox({ isolation: 'process', mebibytes, closed: true })),
    ...(await refusals(changes, prng, changeByte)),
    negativeControl('no sandbox', await insideSandbox({ isolation: 'thread', mebibytes, closed: false })),
    negativeControl('unmodified models', await refusals(1, prng, () => {})),
  ];
}
