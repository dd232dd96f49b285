/**
 * The file that each analysis process runs. A thread analyses; this one only hands over, so that it hears at
 * once when a task is to be stopped or the service is gone.
 */
import { writeFileSync } from 'node:fs';
import type { ProcessCommand, ProcessMessage } from './protocol.ts';
import { createThreads } from './threads.ts';
import type { Run, Workers } from './workers.ts';

/** Where memory runs out, the kernel shall end this process and not the service. */
const oomScore = '500';

let workers: Workers | null = null;
let run: Run | null = null;

// The service says when its processes end; terminals and supervisors signal all of them.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', killSelf);
process.on('message', onCommand);
raiseOomScore();

function onCommand(order: ProcessCommand): void {
  if (order.kind === 'stop') run?.stop(order.flag);
  else if (order.kind === 'start') start(order);
  else void runTask(order.task);
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

/** A thread that is lost takes its process with it: there is one way to be replaced. */
async function runTask(task: (ProcessCommand & { kind: 'run' })['task']): Promise<void> {
  try {
    run = (workers as Workers).run({ ...task, body: task.body.map((block) => new Uint8Array(block)) });
    send({ kind: 'reply', reply: await run.reply });
  } catch {
    // Told by `onLost`.
  }
}

function reportLoss(cause: Error): void {
  send({ kind: 'lost', cause: cause.stack ?? cause.message }, killSelf);
}

function send(message: ProcessMessage, then: () => void = () => {}): void {
  process.send?.(message, then);
}

/** An exit would wait for the thread, and abort where that is in the middle of inference. */
function killSelf(): void {
  process.kill(process.pid, 'SIGKILL');
}

function raiseOomScore(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', oomScore);
  } catch {
    // Not every system has it.
  }
}
