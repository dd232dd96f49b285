/**
 * The file that each analysis process runs. A thread analyses; this one only hands over, so that it hears at
 * once when a task is to be stopped or the service is gone.
 */
import { writeFileSync } from 'node:fs';
import type { ChildMessage, ChildOrder } from './protocol.ts';
import { createThreads } from './threads.ts';
import type { Run, Workers } from './workers.ts';

/** Where memory runs out, the kernel shall end this process and not the service. */
const oomScore = '500';

let workers: Workers | null = null;
let run: Run | null = null;

// The service says when its processes end; terminals and supervisors signal all of them.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', end);
process.on('message', obey);
volunteer();

function obey(order: ChildOrder): void {
  if (order.kind === 'stop') run?.stop(order.flag);
  else if (order.kind === 'start') start(order);
  else void answer(order.task);
}

function start({ settings, file }: ChildOrder & { kind: 'start' }): void {
  workers = createThreads({ workers: 1, settings, onLost: leave, ...(file === undefined ? {} : { file }) });
  workers.started.then(() => tell({ kind: 'ready' }), leave);
}

/** A thread that is lost takes its process with it: there is one way to be replaced. */
async function answer(task: (ChildOrder & { kind: 'run' })['task']): Promise<void> {
  try {
    run = (workers as Workers).run({ ...task, body: task.body.map((block) => new Uint8Array(block)) });
    tell({ kind: 'reply', reply: await run.reply });
  } catch {
    // Told by `onLost`.
  }
}

function leave(cause: Error): void {
  tell({ kind: 'lost', cause: cause.stack ?? cause.message }, end);
}

function tell(message: ChildMessage, then: () => void = () => {}): void {
  process.send?.(message, then);
}

/** An exit would wait for the thread, and abort where that is in the middle of inference. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

function volunteer(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', oomScore);
  } catch {
    // Not every system has it.
  }
}
