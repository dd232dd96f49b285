import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { createProcesses, type ProcessesOptions } from '../../src/workers/processes.ts';
import type { Workers } from '../../src/workers/workers.ts';
import { createGate } from '../support/gate.ts';
import type { ThreadTask } from '../support/thread.ts';

const file = fileURLToPath(new URL('../support/thread.ts', import.meta.url));
const limits = { seconds: 1, channels: 1, minSampleRate: 1, maxSampleRate: 1, deadlineSeconds: 1 };

async function open(
  t: ExecutionContext,
  more: Partial<ProcessesOptions> = {},
): Promise<{ workers: Workers; causes: string[] }> {
  const causes: string[] = [];
  const onLost = (cause: Error) => causes.push(cause.message);
  const workers = createProcesses({
    workers: 1,
    settings: { modelsDir: '', limits },
    file,
    env: process.env,
    onLost,
    ...more,
  });
  t.teardown(() => workers.close());
  await workers.started;
  return { workers, causes };
}

function order(workers: Workers, what: ThreadTask) {
  const body = Uint8Array.from(Buffer.from(JSON.stringify(what)));
  return workers.run({ body: [body], boundary: 'b', signals: ['emotion'], requestId: 'r' });
}

for (const signal of ['SIGKILL', 'SIGSEGV'] as const) {
  test.serial(`a process that ends by ${signal} is replaced, and the cause is told`, async (t) => {
    const { workers, causes } = await open(t);
    await t.throwsAsync(order(workers, { do: 'crash', signal }).reply);
    t.is((await order(workers, { do: 'echo' }).reply).kind, 'report');
    t.is(workers.lost(), 1);
    t.deepEqual(causes, [`The analysis process ended with ${signal}`]);
  });
}

test.serial('why a thread was lost comes out of its process', async (t) => {
  const { workers, causes } = await open(t);
  await t.throwsAsync(order(workers, { do: 'throw' }).reply, { message: /crashed/ });
  t.regex(causes[0] ?? '', /crashed/);
});

test.serial('a process that does not heed its flag is ended', async (t) => {
  const { workers, causes } = await open(t, { killAfterMs: 100 });
  const { reply, stop } = order(workers, { do: 'hang', ms: 3_600_000 });
  stop(1);
  await t.throwsAsync(reply);
  t.is(causes.length, 1);
});

test.serial('a task that is stopped before a process is free never runs', async (t) => {
  const { workers } = await open(t);
  const gate = createGate();
  const first = order(workers, gate.task);
  const second = order(workers, { do: 'crash', signal: 'SIGKILL' });
  second.stop(1);
  t.is((await second.reply).kind, 'failure');
  gate.open();
  t.is((await first.reply).kind, 'report');
  t.is(workers.lost(), 0);
});
