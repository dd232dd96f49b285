/** Analysis processes: a crash in native code, or a signal, ends one process and its request only. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { entryFile } from '../runtime/worker-entries.ts';
import { createFrameDecoder, encodeFrame, type Frame } from './frames.ts';
import {
  type ProcessCommand,
  type ProcessMessage,
  type ProcessStart,
  type Reply,
  sockets,
  type Task,
} from './protocol.ts';
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
  /** It is replaced once its successor is ready. */
  isFull: boolean;
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
  let tasks = 0;

  const ready = () => [...children].filter((child) => child.ready).length;

  function open(): void {
    if (closed) return;
    const own = spawnNode(options.env);
    const child: Child = { process: own, ready: false, isFull: false, pending: null, cause: null };
    children.add(child);
    const decode = createFrameDecoder<ProcessMessage>((frame) => onFrame(child, frame));
    socketOf(child, 'frames').on('data', decode);
    for (const name of ['frames', 'stops'] as const) socketOf(child, name).on('error', () => {}); // `exit` follows
    own.once('exit', (code, signal) => onExit(child, `ended with ${signal ?? code}`));
    own.on('error', (error) => onExit(child, error.message));
    const start: ProcessStart = { settings: options.settings, file: options.file };
    write(child, encodeFrame(start));
  }

  function onFrame(child: Child, { message, bytes }: Frame<ProcessMessage>): void {
    if (message.kind === 'lost') child.cause = message.cause;
    else if (message.kind === 'ready') onReady(child);
    else {
      child.pending?.resolve(replyOf(message, bytes));
      child.pending = null;
      if (message.isFull && !child.isFull) {
        child.isFull = true;
        open();
      }
      retire();
    }
  }

  function onReady(child: Child): void {
    child.ready = true;
    retire();
    options.onReady?.();
    if (startedUp || ready() < options.workers) return;
    startedUp = true;
    resolve();
  }

  /** Ends an idle process that is full, once its successor is ready. */
  function retire(): void {
    if (ready() <= options.workers) return;
    const old = [...children].find((child) => child.isFull && child.pending === null);
    if (old === undefined) return;
    children.delete(old);
    old.process.kill('SIGKILL');
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

  function run({ body, ...task }: Task, hasIdleCores: boolean): Run {
    const child = [...children].find((one) => one.ready && one.pending === null);
    if (child === undefined) throw new Error('Expected an idle process, got none');
    const { promise: reply, ...pending } = deferred<Reply>();
    child.pending = pending;
    const number = tasks++ % 2 ** 32;
    write(child, encodeFrame({ task, number, hasIdleCores } satisfies ProcessCommand, body));
    const stop = () => {
      if (child.pending !== pending) return;
      socketOf(child, 'stops').write(new Uint8Array(Uint32Array.of(number).buffer));
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

const socketOf = ({ process: { stdio } }: Child, name: keyof typeof sockets) =>
  stdio[sockets[name]] as Writable;

/** In one system call as far as the socket takes it. */
function write(child: Child, blocks: readonly Uint8Array[]): void {
  const socket = socketOf(child, 'frames');
  socket.cork();
  for (const block of blocks) socket.write(block);
  socket.uncork();
}

function replyOf({ reply, jsonBytes }: Extract<ProcessMessage, { kind: 'reply' }>, bytes: Uint8Array): Reply {
  if (reply.kind !== 'report') return reply;
  const json = bytes.subarray(0, jsonBytes);
  return bytes.length === jsonBytes
    ? { ...reply, json }
    : { ...reply, json, signed: bytes.subarray(jsonBytes) };
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

const heapMebibytes = 512;

function spawnNode(env: ProcessesOptions['env']): ChildProcess {
  const heap = [`--max-old-space-size=${heapMebibytes}`, '--max-semi-space-size=1'];
  return spawn(process.execPath, [...process.execArgv, ...heap, entryFile('workers/analysis-process')], {
    env: Object.fromEntries(Object.entries(env).filter(([name]) => inheritedVariables.has(name))),
    stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'],
  });
}
