/** The service without privileges, network and writable folders besides its own. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { root, runProgram } from '../../../benchmarks/case.ts';
import { installPackages } from '../../../benchmarks/packages.ts';
import { childrenOf } from '../../../benchmarks/process.ts';
import { atMost, exactly, negativeControl, none, type Row } from '../case.ts';
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

// The service without privileges, with one writable folder, a loopback network and limited memory.

type Sandboxed = {
  readonly pid: number;
  readonly dataDir: string;
  /** Statuses of the smoke test inside the sandbox. */
  smoke(): number[];
  /** Whether root, inside the same namespaces, can make a file in the folder. */
  canWrite(folder: string): boolean;
  peakMebibytes(): number | null;
  /** @returns the exit code */
  stop(): Promise<number | null>;
};

const nobody = 65_534;
const token = 'static-token-of-the-sandbox';
const script = fileURLToPath(new URL('../support/sandbox.sh', import.meta.url));
const smokeScript = fileURLToPath(new URL('../support/sandbox-smoke.ts', import.meta.url));
const entry = join(root, 'dist/src/cli.js');

type SandboxOptions = {
  readonly mebibytes: number;
  /** False: no sandbox. */
  readonly closed: boolean;
};

async function withSandbox<Result>(
  { mebibytes, closed }: SandboxOptions,
  work: (sandboxed: Sandboxed) => Promise<Result>,
): Promise<Result> {
  installPackages(['iproute2']);
  const dataDir = mkdtempSync(join(tmpdir(), 'undertone-sandbox-'));
  chownSync(dataDir, nobody, nobody);
  const group = limitMemory(mebibytes);
  const service = [process.execPath, entry, 'serve'];
  const command = closed
    ? ['unshare', '--mount', '--net', script, dataDir, group.folder, ...service]
    : service;
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: dataDir,
      UNDERTONE_PORT: '0',
      UNDERTONE_METRICS_ADDRESS: 'public',
      UNDERTONE_DATA_DIR: dataDir,
      UNDERTONE_TOKEN: token,
      UNDERTONE_WORKERS: '2',
      UNDERTONE_LOG_LEVEL: 'error',
      UNDERTONE_DEADLINE_S: '300',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    const port = await listening(child);
    return await work(describe(child, dataDir, port, group.peakMebibytes));
  } finally {
    child.kill('SIGKILL');
    await group.remove();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function listening(child: ChildProcess): Promise<number> {
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  const ended = once(child, 'close').then(() => ['']);
  const [line] = await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), ended]);
  const port = Number(/:(\d+)\n/.exec(String(line))?.[1]);
  if (!(port > 0)) throw new Error(`Expected the service to listen in the sandbox, got: ${errors}`);
  return port;
}

function describe(
  child: ChildProcess,
  dataDir: string,
  port: number,
  peakMebibytes: Sandboxed['peakMebibytes'],
): Sandboxed {
  const pid = child.pid as number;
  const inside = (...args: readonly string[]) => runProgram('nsenter', ['-t', String(pid), ...args]);
  return {
    pid,
    dataDir,
    smoke: () => {
      const text = inside('-n', process.execPath, '--import=tsx', smokeScript, String(port), token);
      return text.trim().split(' ').map(Number);
    },
    canWrite: (folder) => {
      try {
        const file = join(folder, `undertone-${pid}`);
        inside('-m', 'sh', '-c', `: > ${file} && rm ${file}`);
        return true;
      } catch {
        return false;
      }
    },
    peakMebibytes,
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      return child.exitCode;
    },
  };
}

/** Privileges of a process; '' for none. */
function privilegesOf(pid: number): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? '';
  const faults = [
    field('Uid').split('\t').includes('0') ? 'root' : '',
    Number(`0x${field('CapEff')}`) + Number(`0x${field('CapPrm')}`) === 0 ? '' : 'capabilities',
    field('NoNewPrivs') === '1' ? '' : 'may gain some',
  ];
  return faults.filter(Boolean).join(', ');
}

/** Sockets that wait for connections or datagrams, in the process's network. */
function listeningSockets(pid: number): number {
  const lines = (name: string) => readFileSync(`/proc/${pid}/net/${name}`, 'utf8').split('\n').slice(1);
  const tcp = ['tcp', 'tcp6'].flatMap(lines).filter((line) => line.trim().split(/\s+/)[3] === '0A');
  const udp = ['udp', 'udp6'].flatMap(lines).filter((line) => line.trim() !== '');
  return tcp.length + udp.length;
}

function interfacesOf(pid: number): string[] {
  const lines = readFileSync(`/proc/${pid}/net/dev`, 'utf8').split('\n').slice(2);
  return lines.map((line) => line.split(':')[0]?.trim() ?? '').filter(Boolean);
}

// A memory limit for several processes; the kernel kills one that exceeds it.

type ControlGroup = {
  readonly folder: string;
  /** Peak usage; null where the kernel does not report it. */
  peakMebibytes(): number | null;
  remove(): Promise<void>;
};

const mebibyte = 2 ** 20;
/** Either version of the kernel's interface. */
const versions = [
  {
    mount: '/sys/fs/cgroup/memory',
    mark: 'memory.limit_in_bytes',
    limit: 'memory.limit_in_bytes',
    peak: 'memory.max_usage_in_bytes',
  },
  { mount: '/sys/fs/cgroup', mark: 'cgroup.controllers', limit: 'memory.max', peak: 'memory.peak' },
];

function limitMemory(mebibytes: number): ControlGroup {
  const version = versions.find(({ mount, mark }) => existsSync(`${mount}/${mark}`));
  if (version === undefined) throw new TypeError('Expected control groups in /sys/fs/cgroup, got none');
  const folder = `${version.mount}/undertone-${process.pid}-${Math.round(performance.now())}`;
  mkdirSync(folder);
  writeFileSync(`${folder}/${version.limit}`, String(mebibytes * mebibyte));
  return {
    folder,
    peakMebibytes: () => {
      const path = `${folder}/${version.peak}`;
      return existsSync(path) ? Number(readFileSync(path, 'utf8')) / mebibyte : null;
    },
    remove: async () => {
      for (let tries = 0; tries < 100 && existsSync(folder); tries++) {
        try {
          rmdirSync(folder);
        } catch {
          // Killed processes leave the group with a delay.
          await sleep(50);
        }
      }
    },
  };
}
