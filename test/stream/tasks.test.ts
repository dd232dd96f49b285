/** Tasks of a session on threads that obey (see thread.ts). */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { createTaskRunner, type TaskRunner } from '../../src/service/live/tasks.ts';
import { createPool, type Pool } from '../../src/service/workers/pool.ts';
import type { SerializedStep } from '../../src/service/workers/protocol.ts';
import { makeFolder } from '../support/folder.ts';
import type { ThreadTask } from '../support/thread.ts';

/** The bytes of the step are the task. */
const stepOf = (task: ThreadTask): SerializedStep => ({
  format: { encoding: 's16le', sampleRate: 16_000, channels: 1 },
  bytes: Uint8Array.from(Buffer.from(JSON.stringify(task))),
  state: null,
  spare: null,
  signals: ['emotion'],
  split: false,
  measure: false,
  cause: null,
});

async function open(t: ExecutionContext): Promise<{ readonly pool: Pool; readonly tasks: TaskRunner }> {
  const limits = { seconds: 1, channels: 1, minSampleRate: 1, maxSampleRate: 1, deadlineSeconds: 1 };
  const file = fileURLToPath(new URL('../support/thread.ts', import.meta.url));
  const pool = createPool({ workers: 1, queue: 1, settings: { modelsDir: '', limits }, file });
  t.teardown(() => pool.close());
  await pool.started;
  return { pool, tasks: createTaskRunner(pool, 'a', 3_600_000) };
}

test('a step whose worker dies is retried once, on another worker', async (t) => {
  const { pool, tasks } = await open(t);
  const task: ThreadTask = { do: 'exitOnce', file: join(makeFolder(), 'died') };
  t.truthy(await tasks.step(stepOf(task)));
  t.is(pool.stats().lost, 1);
  await t.throwsAsync(tasks.step(stepOf({ do: 'exit' })), { code: 'worker_lost' });
  t.is(pool.stats().lost, 3);
});
