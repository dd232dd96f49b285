import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { createProcesses, type ProcessesOptions } from '../../src/workers/processes.ts';
import type { Workers } from '../../src/workers/workers.ts';
import type { ThreadTask } from '../support/thread.ts';
import { until } from '../support/wait.ts';

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

function run(workers: Workers, task: ThreadTask) {
  const body = Uint8Array.from(Buffer.from(JSON.stringify(task)));
  return workers.run({ body: [body], boundary: 'b', signals: ['emotion'], requestId: 'r' }, false);
}

for (const signal of ['SIGKILL', 'SIGSEGV'] as const) {
  test.serial(`a process that ends by ${signal} is replaced, and the cause is reported`, async (t) => {
    const { workers, causes } = await open(t);
    await t.throwsAsync(run(workers, { do: 'crash', signal }).reply);
    t.is(workers.ready(), 0);
    await until(() => workers.ready() === 1);
    t.is((await run(workers, { do: 'echo' }).reply).kind, 'report');
    t.is(workers.lost(), 1);
    t.deepEqual(causes, [`The analysis process ended with ${signal}`]);
  });
}

test.serial('a process reports an error that nothing catches', async (t) => {
  const { workers, causes } = await open(t);
  await t.throwsAsync(run(workers, { do: 'throw' }).reply, { message: /crashed/ });
  t.regex(causes[0] ?? '', /crashed/);
});

test.serial('a process that ignores its flag is killed', async (t) => {
  const { workers, causes } = await open(t, { killAfterMs: 100 });
  const { reply, stop } = run(workers, { do: 'hang', ms: 3_600_000 });
  stop();
  await t.throwsAsync(reply);
  t.is(causes.length, 1);
});
