/** Analysis processes: a crash in native code, or a signal, takes one of them with its request and nothing else. */
import { type ChildProcess, fork } from 'node:child_process';
import { stoppedMessage } from '../analysis/stage-timer.ts';
import { ServiceError, serializeError } from '../runtime/errors.ts';
import { threadFile } from '../runtime/worker-entries.ts';
import type { ProcessCommand, ProcessMessage, Reply, Task } from './protocol.ts';
import { deferred, type Run, respawnDelayMs, type Workers, type WorkersOptions } from './workers.ts';

export type ProcessesOptions = WorkersOptions & {
  /** Environment of the service, of which the processes get a few variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long after its flag was raised a process may go on before it is ended. */
  readonly killAfterMs?: number;
};

type PendingTask = {
  readonly task: Task;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (cause: Error) => void;
};

type Child = {
  readonly process: ChildProcess;
  warm: boolean;
  job: PendingTask | null;
  /** What it said of its own end. */
  cause: string | null;
};

const stopped: Reply = {
  kind: 'failure',
  failure: serializeError(new ServiceError('deadline', stoppedMessage)),
};

export function createProcesses(options: ProcessesOptions): Workers {
  const { promise: started, resolve, reject } = deferred<void>();
  const children = new Set<Child>();
  const waiting = new Set<PendingTask>();
  let lost = 0;
  let closed = false;
  let startedUp = false;

  function open(): void {
    if (closed) return;
    const child: Child = { process: spawn(options.env), warm: false, job: null, cause: null };
    children.add(child);
    child.process.on('message', (message: ProcessMessage) => onMessage(child, message));
    child.process.once('exit', (code, signal) => onExit(child, `ended with ${signal ?? code}`));
    child.process.on('error', (error) => onExit(child, error.message));
    send(child, { kind: 'start', settings: options.settings, file: options.file });
  }

  function onMessage(child: Child, message: ProcessMessage): void {
    if (message.kind === 'lost') child.cause = message.cause;
    if (message.kind === 'reply') {
      child.job?.resolve(message.reply);
      child.job = null;
    }
    if (message.kind === 'ready') child.warm = true;
    assign();
    if (startedUp || [...children].filter(({ warm }) => warm).length < options.workers) return;
    startedUp = true;
    resolve();
  }

  function assign(): void {
    for (const child of children) {
      const [job] = waiting;
      if (job === undefined) return;
      if (!child.warm || child.job !== null) continue;
      waiting.delete(job);
      child.job = job;
      send(child, { kind: 'run', task: job.task });
    }
  }

  /** One that never became warm is tried again after a while, the others are replaced at once. */
  function onExit(child: Child, how: string): void {
    if (!children.delete(child)) return;
    child.process.kill('SIGKILL');
    const cause = new Error(child.cause ?? `The analysis process ${how}`);
    child.job?.reject(cause);
    if (closed) return;
    if (!startedUp) {
      reject(cause);
      void close();
      return;
    }
    lost++;
    options.onLost?.(cause);
    if (child.warm) open();
    else setTimeout(open, respawnDelayMs).unref();
  }

  function run(task: Task): Run {
    const { promise: reply, resolve: onReply, reject: onLoss } = deferred<Reply>();
    const job: PendingTask = { task, resolve: onReply, reject: onLoss };
    waiting.add(job);
    assign();
    return { reply, stop: (flag) => stop(job, flag) };
  }

  function stop(job: PendingTask, flag: number): void {
    if (waiting.delete(job)) job.resolve(stopped);
    for (const child of children) {
      if (child.job !== job) continue;
      send(child, { kind: 'stop', flag });
      setTimeout(() => {
        if (child.job === job) child.process.kill('SIGKILL');
      }, options.killAfterMs ?? heedWithinMs).unref();
    }
  }

  /** They hold nothing that would have to be written or freed. */
  async function close(): Promise<void> {
    closed = true;
    const ends = [...children].map((child) => new Promise((done) => child.process.once('exit', done)));
    for (const child of children) child.process.kill('SIGKILL');
    await Promise.all(ends);
  }

  for (let index = 0; index < options.workers; index++) open();
  return { started, warm: () => [...children].some(({ warm }) => warm), lost: () => lost, run, close };
}

/** They decode untrusted bytes and need no password, key or token that is in the environment. */
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

/** Longer than any stage takes: between stages the flag is looked at. */
const heedWithinMs = 10_000;

function spawn(env: ProcessesOptions['env']): ChildProcess {
  return fork(threadFile('workers/analysis-process'), [], {
    env: Object.fromEntries(Object.entries(env).filter(([name]) => inheritedVariables.has(name))),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** What cannot be told any more is told by the end of the process. */
function send(child: Child, order: ProcessCommand): void {
  child.process.send(order, () => {});
}
