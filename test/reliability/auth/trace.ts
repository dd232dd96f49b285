/** File writes of a process, recorded by strace; sockets, pipes and the log do not count. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { installPackages } from '../../../benchmarks/packages.ts';

const writing =
  'write,writev,pwrite64,pwritev,pwritev2,sendfile,copy_file_range,splice,truncate,ftruncate,fallocate';
const naming =
  'open,openat,openat2,creat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mkdir,mkdirat';
/** A descriptor as `strace -y` shows it: nothing else is a file. */
const notStored = /^\w+\(\d+<(?:TCP|TCPv6|UDP|UDPv6|UNIX|socket|pipe|anon_inode|\/dev\/null)[^>]*>/;
const opensToRead = /^open(?:at2?)?\(.*O_RDONLY(?!.*(?:O_CREAT|O_TRUNC|O_WRONLY|O_RDWR))/;

export type Trace = { end(): Promise<TraceResult> };
export type TraceResult = {
  /** Calls that wrote to a file or made one. */
  readonly stored: readonly string[];
  /** All recorded calls; 0 means that strace saw nothing. */
  readonly seen: number;
};

/** Attaches to all current and future threads. */
export async function traceWrites(pid: number, file: string): Promise<Trace> {
  installPackages(['strace']);
  const args = ['-f', '-y', '-s', '64', '-e', `trace=${writing},${naming}`, '-o', file, '-p', String(pid)];
  const child = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  await attached(child);
  return {
    end: async () => {
      // strace writes with a delay.
      await sleep(500);
      const closed = once(child, 'close');
      child.kill('SIGINT');
      await closed;
      return readTrace(readFileSync(file, 'utf8'));
    },
  };
}

async function attached(child: ChildProcess): Promise<void> {
  let output = '';
  const ready = new Promise<void>((resolve) => {
    child.stderr?.on('data', (chunk) => {
      output += chunk;
      if (/attached/.test(output)) resolve();
    });
  });
  await Promise.race([ready, once(child, 'close')]);
  if (!/attached/.test(output)) throw new Error(`Expected strace to attach, got ${output}`);
}

/** Lines are `PID call(...) = result`; the first line of an interrupted call has the names. */
function readTrace(text: string): TraceResult {
  const calls = text
    .split('\n')
    .map((line) => line.replace(/^\d+\s+/, ''))
    .filter((call) => /^[a-z]\w+\(/.test(call));
  const stored = calls.filter((call) => !notStored.test(call) && !opensToRead.test(call));
  return { stored, seen: calls.length };
}
