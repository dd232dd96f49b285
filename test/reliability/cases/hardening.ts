/** The service without privileges, network and writable folders besides its own. */
import { join } from 'node:path';
import { root } from '../../../benchmarks/case.ts';
import { childrenOf } from '../../../benchmarks/process.ts';
import { atMost, exactly, negativeControl, none, type Row } from '../case.ts';
import {
  interfacesOf,
  listeningSockets,
  privilegesOf,
  type SandboxOptions,
  withSandbox,
} from '../hardening/sandbox.ts';
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
    const statuses = sandboxed.smoke();
    const wrong = statuses.filter((status) => status !== 200);
    const pids = [sandboxed.pid, ...childrenOf(sandboxed.pid)];
    const privileges = pids.map(privilegesOf).filter(Boolean);
    const writable = folders.filter(sandboxed.canWrite);
    const others = interfacesOf(sandboxed.pid).filter((one) => one !== 'lo');
    const sockets = listeningSockets(sandboxed.pid);
    const without = sandboxed.canWrite(sandboxed.dataDir) ? [] : ['the data folder is not'];
    return [
      none('answers other than 200', wrong.map(String), statuses.length),
      none('processes with a privilege', privileges, pids.length),
      none('writable folders besides the data folder', [...writable, ...without], folders.length),
      none('network interfaces besides loopback', others, 'all'),
      exactly(1, 'listening sockets', 'sockets', sockets),
      atMost(mebibytes, 'most memory', 'MiB', sandboxed.peakMebibytes()),
      exactly(0, 'exit code after SIGTERM', 'code', await sandboxed.stop()),
    ];
  });
}

export async function run(): Promise<readonly Row[]> {
  requireRoot('hardening');
  buildService();
  return [
    ...(await insideSandbox({ mebibytes, closed: true })),
    negativeControl('no sandbox', await insideSandbox({ mebibytes, closed: false })),
  ];
}
