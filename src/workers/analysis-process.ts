/**
 * Entry file of an analysis process. Analysis runs in one thread, so that the main thread receives commands and notices
 * a disconnect at once.
 */
import { writeFileSync } from 'node:fs';
import type { ProcessCommand, ProcessMessage } from './protocol.ts';
import { createThreads } from './threads.ts';
import type { Run, Workers } from './workers.ts';

/** On memory exhaustion the kernel kills this process rather than the service. */
const oomScore = '500';

let workers: Workers | null = null;
let run: Run | null = null;

// Terminals and supervisors signal every process of the group; the service stops its own.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', killSelf);
process.on('message', onCommand);
raiseOomScore();

function onCommand(command: ProcessCommand): void {
  if (command.kind === 'stop') run?.stop();
  else if (command.kind === 'start') start(command);
  else void runTask(command.task);
}

function start({ settings, file }: ProcessCommand & { kind: 'start' }): void {
  workers = createThreads({
    workers: 1,
    settings,
    onLost: reportLoss,
    ...(file === undefined ? {} : { file }),
  });
  workers.started.then(() => send({ kind: 'ready' }), reportLoss);
}

/** Sends the reply; `onLost` reports a lost thread. */
async function runTask(task: (ProcessCommand & { kind: 'run' })['task']): Promise<void> {
  try {
    // Blocks of one message may share an ArrayBuffer: only a copy of each can be transferred.
    run = (workers as Workers).run({ ...task, body: task.body.map((block) => new Uint8Array(block)) });
    send({ kind: 'reply', reply: await run.reply });
  } catch {
    // `onLost` reports it.
  }
}

/** A process ends with its thread: processes are the unit of replacement. */
function reportLoss(cause: Error): void {
  send({ kind: 'lost', cause: cause.stack ?? cause.message }, killSelf);
}

function send(message: ProcessMessage, then: () => void = () => {}): void {
  process.send?.(message, then);
}

/** `process.exit` waits for the thread, and aborts while it runs inference. */
function killSelf(): void {
  process.kill(process.pid, 'SIGKILL');
}

function raiseOomScore(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', oomScore);
  } catch {
    // Not every system has this file.
  }
}
