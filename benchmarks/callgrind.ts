/** Instructions counted by valgrind's callgrind: the same on a busy machine and on a quiet one. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, runProgram } from './case.ts';
import { ask, formOf, recording, times } from './request/client.ts';

const warmUps = 10;
const requests = 30;
/** Without a compiler in the background a request takes the same way each time, if a longer one. */
const nodeOptions = ['--jitless', '--single-threaded', '--hash-seed=1', '--random-seed=1'];

/** Of one call of CountedWork in benchmarks/native/counts.cc. */
export function countWork(program: string, args: readonly string[]): number {
  const options = ['--tool=callgrind', '--toggle-collect=CountedWork'];
  const files = ['--callgrind-out-file=/dev/null', '--log-fd=1'];
  const output = runProgram('valgrind', [...options, ...files, program, ...args]);
  const count = Number(/Collected : (\d+)/.exec(output)?.[1]);
  if (count > 0) return count;
  throw new Error(`Expected a count of instructions, got ${output.slice(-400)}`);
}

/** Of one request in the thread that speaks HTTP, and in all the others together. */
export type RequestCount = { readonly mainThread: number; readonly otherThreads: number };

/** The service of benchmarks/request/server.ts; the least of several requests, since timers and garbage collection come in between. */
export async function countRequest(args: readonly string[]): Promise<RequestCount> {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-counts-'));
  const valgrind = ['--tool=callgrind', '--separate-threads=yes', `--callgrind-out-file=${folder}/out`, '-q'];
  const child = fork(join(root, '.cache', 'request', 'server.js'), args, {
    cwd: root,
    execPath: 'valgrind',
    execArgv: [...valgrind, process.execPath, ...nodeOptions],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ended = once(child, 'close');
  try {
    const first = await Promise.race([once(child, 'message'), ended]);
    const port = Number((first[0] as { port?: number } | null)?.port);
    if (!(port > 0)) throw new Error(`Expected a server under valgrind, got ${first[0]}`);
    const form = formOf(recording);
    const post = async () => (await ask(port, '/v1/analyze/emotion', form)).ms;
    await times(warmUps, post);
    for (let request = 0; request < requests; request++) {
      runProgram('callgrind_control', ['-z', String(child.pid)]);
      await post();
      runProgram('callgrind_control', ['-d', String(child.pid)]);
    }
    return readCounts(folder);
  } finally {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Files are called out.REQUEST-THREAD, counted from 1; the first thread is the main one. */
function readCounts(folder: string): RequestCount {
  const files = readdirSync(folder).flatMap((file) => {
    const [, request, thread] = /^out\.(\d+)-(\d+)$/.exec(file) ?? [];
    const total = Number(/^totals: (\d+)/m.exec(readFileSync(join(folder, file), 'utf8'))?.[1] ?? 0);
    return request === undefined ? [] : [{ request: Number(request), main: Number(thread) === 1, total }];
  });
  const least = (main: boolean) => {
    const sums = Array.from({ length: requests }, (_, index) =>
      files
        .filter((file) => file.request === index + 1 && file.main === main)
        .reduce((sum, { total }) => sum + total, 0),
    );
    if (sums.includes(0))
      throw new Error(`Expected ${requests} counted requests, got ${sums.filter(Boolean).length}`);
    return Math.min(...sums);
  };
  return { mainThread: least(true), otherThreads: least(false) };
}
