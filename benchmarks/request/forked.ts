/** The servers of benchmarks/request/server.ts, each a process of its own that tells its processor time. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { root, runProgram } from '../case.ts';
import type { Usage } from './server.ts';

export type Forked = { readonly port: number; usage(): Promise<Usage>; stop(): void };

export function buildServers(): void {
  runProgram('node_modules/.bin/rolldown', ['-c', 'benchmarks/request/rolldown.config.mjs']);
}

/** `raw` needs no thread; the others are what the service's threads run. */
export type Kind = 'raw' | 'scan-thread' | 'graph-thread' | 'models-thread';

export async function forkServer(kind: Kind, workers = 1): Promise<Forked> {
  const child = fork(join(root, '.cache', 'request', 'server.js'), [kind, String(workers)], {
    cwd: root,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const usage = async () => {
    child.send('usage');
    const [answer] = (await once(child, 'message')) as [{ usage: Usage }];
    return answer.usage;
  };
  return { port, usage, stop: () => child.disconnect() };
}
