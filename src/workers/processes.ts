/** Analysis processes: a crash in native code, or a signal, ends one process and its request only. */
import { type ChildProcess, fork } from 'node:child_process';
import { entryFile } from '../runtime/worker-entries.ts';
import type { ProcessCommand, ProcessMessage, Reply, Task } from './protocol.ts';
import { deferred, type Run, respawnDelayMs, type Workers, type WorkersOptions } from './workers.ts';

export type ProcessesOptions = WorkersOptions & {
  /** Environment of the service; the processes inherit a few of its variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A process that still runs this long after its flag was set is killed. */
  readonly killAfterMs?: number;
};

type Child = {
  readonly process: ChildProcess;
  ready: boolean;
  /** Settles the reply of the running task; null when idle. */
  pending: { resolve(reply: Reply): void; reject(cause: Error): void } | null;
  /** Reported by the process before it ends. */
  cause: string | null;
};

export function createProcesses(options: ProcessesOptions): Workers {
  const { promise: started, resolve, reject } = deferred<void>();
  const children = new Set<Child>();
  let lost = 0;
  let closed = false;
  let startedUp = false;

  const ready = () => [...children].filter((child) => child.ready).length;

  function open(): void {
    if (closed) return;
    const child: Child = { process: spawn(options.env), ready: false, pending: null, cause: null };
    children.add(child);
    child.process.on('message', (message: ProcessMessage) => onMessage(child, message));
    child.process.once('exit', (code, signal) => onExit(child, `ended with ${signal ?? code}`));
    child.process.on('error', (error) => onExit(child, error.message));
    send(child, { kind: 'start', settings: options.settings, file: options.file });
  }

  function onMessage(child: Child, message: ProcessMessage): void {
    if (message.kind === 'lost') child.cause = message.cause;
    else if (message.kind === 'ready') onReady(child);
    else {
      child.pending?.resolve(message.reply);
      child.pending = null;
    }
  }

  function onReady(child: Child): void {
    child.ready = true;
    options.onReady?.();
    if (startedUp || ready() < options.workers) return;
    startedUp = true;
    resolve();
  }

  /** A process that never became ready is respawned after a delay, others at once. */
  function onExit(child: Child, reason: string): void {
    if (!children.delete(child)) return;
    child.process.kill('SIGKILL');
    const cause = new Error(child.cause ?? `The analysis process ${reason}`);
    child.pending?.reject(cause);
    if (closed) return;
    if (!startedUp) {
      reject(cause);
      void close();
      return;
    }
    lost++;
    options.onLost?.(cause);
    if (child.ready) open();
    else setTimeout(open, respawnDelayMs).unref();
  }

  function run(task: Task): Run {
    const child = [...children].find((one) => one.ready && one.pending === null);
    if (child === undefined) throw new Error('Expected an idle process, got none');
    const { promise: reply, ...pending } = deferred<Reply>();
    child.pending = pending;
    send(child, { kind: 'run', task });
    const stop = () => {
      if (child.pending !== pending) return;
      send(child, { kind: 'stop' });
      setTimeout(() => {
        if (child.pending === pending) child.process.kill('SIGKILL');
      }, options.killAfterMs ?? killAfterMs).unref();
    };
    return { reply, stop };
  }

  /** The processes hold nothing that has to be written or freed. */
  async function close(): Promise<void> {
    closed = true;
    const exits = [...children].map((child) => new Promise((done) => child.process.once('exit', done)));
    for (const child of children) child.process.kill('SIGKILL');
    await Promise.all(exits);
  }

  for (let index = 0; index < options.workers; index++) open();
  return { started, ready, lost: () => lost, run, close };
}

/** The processes decode untrusted bytes: passwords, keys and tokens of the environment are withheld. */
const inheritedVariables = new Set([
  'PATH',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'NODE_ENV',
  'NODE_OPTIONS',
  'LD_LIBRARY_PATH',
  'LD_PRELOAD',
  'MALLOC_ARENA_MAX',
  'ASAN_OPTIONS',
  'UBSAN_OPTIONS',
  'LSAN_OPTIONS',
]);

/** Longer than any stage, after which the flag is read. */
const killAfterMs = 10_000;

function spawn(env: ProcessesOptions['env']): ChildProcess {
  return fork(entryFile('workers/analysis-process'), [], {
    env: Object.fromEntries(Object.entries(env).filter(([name]) => inheritedVariables.has(name))),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** Ignores errors: the exit handler reports the loss. */
function send(child: Child, command: ProcessCommand): void {
  child.process.send(command, () => {});
}
