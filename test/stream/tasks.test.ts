/** Tasks of a session on threads that obey (see thread.ts). */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import type { LiveStep } from '../../src/analysis/live.ts';
import { initialState } from '../../src/analysis/live-turns.ts';
import { createTaskRunner, type TaskRunner } from '../../src/stream/tasks.ts';
import { createPool, type Pool } from '../../src/workers/pool.ts';
import { makeFolder } from '../support/folder.ts';
import type { ThreadTask } from '../support/thread.ts';

const live: LiveStep = {
  state: initialState,
  settled: 0,
  history: [],
  startSeconds: 0,
  signals: ['emotion'],
  channel: null,
  measure: false,
  cause: null,
};

async function open(t: ExecutionContext): Promise<{ readonly pool: Pool; readonly tasks: TaskRunner }> {
  const limits = { seconds: 1, channels: 1, minSampleRate: 1, maxSampleRate: 1, deadlineSeconds: 1 };
  const file = fileURLToPath(new URL('../support/thread.ts', import.meta.url));
  const pool = createPool({ workers: 1, queue: 1, settings: { modelsDir: '', limits }, file });
  t.teardown(() => pool.close());
  await pool.started;
  return { pool, tasks: createTaskRunner(pool, 'a', 3_600_000) };
}

const encode = (task: ThreadTask) => Uint8Array.from(Buffer.from(JSON.stringify(task)));

test('a step whose worker dies is retried once, on another worker', async (t) => {
  const { pool, tasks } = await open(t);
  const task: ThreadTask = { do: 'exitOnce', file: join(makeFolder(), 'died') };
  t.truthy(await tasks.step(() => encode(task), live));
  t.is(pool.stats().lost, 1);
  await t.throwsAsync(
    tasks.step(() => encode({ do: 'exit' }), live),
    { code: 'worker_lost' },
  );
  t.is(pool.stats().lost, 3);
});
