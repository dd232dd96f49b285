import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { ServiceError } from '../../src/runtime/errors.ts';
import { createPool, type PendingAnalysis, type Pool } from '../../src/workers/pool.ts';
import { createGate } from '../support/gate.ts';
import type { ThreadTask } from '../support/thread.ts';
import { until } from '../support/wait.ts';

const file = fileURLToPath(new URL('../support/thread.ts', import.meta.url));
const limits = { seconds: 1, channels: 1, minSampleRate: 1, maxSampleRate: 1, deadlineSeconds: 1 };

const isolations = { threads: null, processes: { env: process.env } } as const;
type Isolation = keyof typeof isolations;

async function open(
  t: ExecutionContext,
  isolation: Isolation,
  workers: number,
  queue: number,
): Promise<{ pool: Pool; lost: Error[] }> {
  const lost: Error[] = [];
  const settings = { modelsDir: '', limits };
  const onLost = (cause: Error) => lost.push(cause);
  const pool = createPool({ workers, queue, settings, file, onLost, processes: isolations[isolation] });
  t.teardown(() => pool.close());
  await pool.started;
  return { pool, lost };
}

type Released = { count: number };

/** Out of reach, for tests that are not about deadlines. */
const farMs = 3_600_000;

function give(
  pool: Pool,
  order: ThreadTask,
  deadlineMs = farMs,
  released: Released = { count: 0 },
  account = 'a',
): PendingAnalysis {
  const body = Uint8Array.from(Buffer.from(JSON.stringify(order)));
  const release = () => {
    released.count++;
  };
  const deadlineAt = performance.now() + deadlineMs;
  return pool.submit(
    { body: [body], boundary: 'b', signals: ['emotion'], requestId: 'r' },
    { account, deadlineAt, release },
  );
}

async function outcome(job: PendingAnalysis): Promise<string> {
  try {
    const answer = await job.result;
    return answer === null ? 'cancelled' : `flag ${JSON.parse(Buffer.from(answer.json).toString()).flag}`;
  } catch (error) {
    return error instanceof ServiceError ? error.code : (error as Error).message;
  }
}

/** Until two tasks at one time are done by two workers. */
async function bothAgain(pool: Pool): Promise<void> {
  await until(async () => {
    const answers = await Promise.all([1, 2].map(() => give(pool, { do: 'work', ms: 100 }).result));
    const workers = answers.map((answer) => JSON.parse(Buffer.from(answer?.json ?? []).toString()).thread);
    return new Set(workers).size === 2;
  });
}

for (const isolation of ['threads', 'processes'] as const) {
  test.serial(`${isolation}: a pool is warm once its threads are, and answers`, async (t) => {
    const { pool } = await open(t, isolation, 2, 2);
    t.true(pool.warm());
    const released = { count: 0 };
    const answer = await give(pool, { do: 'echo' }, farMs, released).result;
    t.is(
      Buffer.from(answer?.json ?? [])
        .toString()
        .slice(0, 18),
      '{"request_id":"r",',
    );
    t.deepEqual(
      answer?.stages.map(({ name }) => name),
      ['queue', 'work'],
    );
    await until(() => released.count > 0);
    t.is(released.count, 1);
  });

  test.serial(`${isolation}: a pool whose threads cannot start says so and does not try again`, async (t) => {
    const settings = { modelsDir: '', limits, failing: true };
    const pool = createPool({ workers: 2, queue: 1, settings, file, processes: isolations[isolation] });
    t.teardown(() => pool.close());
    await t.throwsAsync(pool.started, { any: true });
    t.false(pool.warm());
  });

  test.serial(`${isolation}: beyond the queue a task is refused at once`, async (t) => {
    const { pool } = await open(t, isolation, 1, 2);
    const gate = createGate();
    const jobs = [1, 2, 3].map(() => give(pool, gate.task));
    t.false(pool.accepts('a'));
    const released = { count: 0 };
    t.is(
      t.throws(() => give(pool, { do: 'echo' }, farMs, released), { instanceOf: ServiceError })?.code,
      'overloaded',
    );
    t.is(released.count, 1);
    t.deepEqual(pool.stats(), { queued: 2, running: 1, lost: 0, accounts: 1, displaced: 0 });
    gate.open();
    t.deepEqual(await Promise.all(jobs.map(outcome)), ['flag 0', 'flag 0', 'flag 0']);
  });

  test.serial(`${isolation}: a full queue gives an account within its share a place, in turn`, async (t) => {
    const { pool } = await open(t, isolation, 1, 4);
    const ends: string[] = [];
    const gate = createGate();
    const start = (name: string, account: string, released?: Released) => {
      const job = give(pool, gate.task, farMs, released, account);
      return outcome(job).then((end) => ends.push(`${name} ${end}`));
    };
    const released = { count: 0 };
    const jobs = ['a0', 'a1', 'a2', 'a3'].map((name) => start(name, 'a'));
    jobs.push(start('a4', 'a', released));
    t.is(pool.fullForMs(), 0);
    jobs.push(start('b0', 'b'));
    t.is(released.count, 1);
    t.deepEqual(pool.stats(), { queued: 4, running: 1, lost: 0, accounts: 2, displaced: 1 });
    t.deepEqual([pool.accepts('a'), pool.accepts('b'), pool.accepts('c')], [false, true, true]);
    gate.open();
    await Promise.all(jobs);
    t.deepEqual(ends, ['a4 overloaded', 'a0 flag 0', 'a1 flag 0', 'b0 flag 0', 'a2 flag 0', 'a3 flag 0']);
  });

  test.serial(`${isolation}: a pool is full once it accepts no account at all`, async (t) => {
    const { pool } = await open(t, isolation, 1, 2);
    const { task } = createGate();
    const jobs = ['a', 'a', 'b'].map((account) => give(pool, task, farMs, undefined, account));
    await sleep(20);
    t.true(pool.fullForMs() > 0);
    t.deepEqual([pool.accepts('a'), pool.accepts('b'), pool.accepts('c')], [false, false, false]);
    jobs.at(-1)?.cancel();
    t.is(pool.fullForMs(), 0);
    for (const job of jobs) job.cancel();
    t.deepEqual(await Promise.all(jobs.map(outcome)), ['cancelled', 'cancelled', 'cancelled']);
  });

  test.serial(`${isolation}: a queue of none takes what the workers can do`, async (t) => {
    const { pool } = await open(t, isolation, 1, 0);
    const job = give(pool, { do: 'work', ms: 50 });
    t.is(t.throws(() => give(pool, { do: 'echo' }), { instanceOf: ServiceError })?.code, 'overloaded');
    t.is(await outcome(job), 'flag 0');
  });

  test.serial(
    `${isolation}: a deadline answers at once, in the queue and in a thread, and no thread is ended`,
    async (t) => {
      const { pool, lost } = await open(t, isolation, 1, 2);
      const released = { count: 0 };
      const { task } = createGate();
      const running = give(pool, task, 500, released);
      const queued = give(pool, task, 50, released);
      const ended: string[] = [];
      const noted = async (name: string, job: PendingAnalysis) =>
        ended.push(`${name}: ${await outcome(job)}`);
      await Promise.all([noted('running', running), noted('queued', queued)]);
      t.deepEqual(ended, ['queued: deadline', 'running: deadline']);
      // The gate stays shut: the flag freed the thread.
      t.is(await outcome(give(pool, { do: 'echo' })), 'flag 0');
      t.is(released.count, 2);
      t.deepEqual(lost, []);
    },
  );

  test.serial(
    `${isolation}: a cancelled task leaves the queue, or its thread at the next look at the flag`,
    async (t) => {
      const { pool } = await open(t, isolation, 1, 2);
      const released = { count: 0 };
      const { task } = createGate();
      const running = give(pool, task, farMs, released);
      const queued = give(pool, task, farMs, released);
      queued.cancel();
      t.is(released.count, 1);
      running.cancel();
      t.deepEqual(await Promise.all([running, queued].map(outcome)), ['cancelled', 'cancelled']);
      t.is(await outcome(give(pool, { do: 'echo' })), 'flag 0');
      t.is(released.count, 2);
    },
  );

  for (const how of ['exit', 'throw', 'exhaust'] as const) {
    test.serial(
      `${isolation}: a worker that dies (${how}) takes only its own task with it and is replaced`,
      async (t) => {
        const { pool, lost } = await open(t, isolation, 2, 8);
        const released = { count: 0 };
        const beside = give(pool, { do: 'work', ms: 300 });
        const doomed = give(pool, { do: how }, farMs, released);
        const after = [1, 2, 3, 4].map(() => give(pool, { do: 'work', ms: 20 }));
        t.is(await outcome(doomed), 'worker_lost');
        t.is(await outcome(beside), 'flag 0');
        t.deepEqual(await Promise.all(after.map(outcome)), ['flag 0', 'flag 0', 'flag 0', 'flag 0']);
        t.is(released.count, 1);
        t.is(pool.stats().lost, 1);
        t.is(lost.length, 1);
        await bothAgain(pool);
      },
    );
  }

  test.serial(`${isolation}: threads that die again and again are always replaced`, async (t) => {
    const { pool } = await open(t, isolation, 1, 8);
    for (let round = 0; round < 5; round++) t.is(await outcome(give(pool, { do: 'exit' })), 'worker_lost');
    t.is(await outcome(give(pool, { do: 'echo' })), 'flag 0');
    t.is(pool.stats().lost, 5);
  });

  test.serial(
    `${isolation}: a thread whose heap is full answers, and is replaced by a new one`,
    async (t) => {
      const { pool, lost } = await open(t, isolation, 1, 8);
      const done = async (order: ThreadTask) =>
        JSON.parse(Buffer.from((await give(pool, order).result)?.json ?? []).toString()).thread;
      const before = await done({ do: 'echo' });
      t.is(await done({ do: 'fill' }), before);
      await until(async () => (await done({ do: 'work', ms: 20 })) !== before);
      t.deepEqual(lost, []);
    },
  );

  test.serial(`${isolation}: failures come back as they were and faults as errors`, async (t) => {
    const { pool } = await open(t, isolation, 1, 1);
    const failure = (await t.throwsAsync(give(pool, { do: 'refuse' }).result)) as ServiceError;
    t.true(failure instanceof ServiceError);
    t.deepEqual(failure.problems, [
      { where: 'body', field: 'audio', reason: 'audio.malformed', message: 'no' },
    ]);
    t.is(await outcome(give(pool, { do: 'fault' })), 'Error: a secret cause');
  });

  test.serial(`${isolation}: at the end every request can be failed`, async (t) => {
    const { pool } = await open(t, isolation, 1, 1);
    const { task } = createGate();
    const jobs = [1, 2].map(() => give(pool, task));
    pool.failAll(new ServiceError('shutting_down', 'x'));
    t.deepEqual(await Promise.all(jobs.map(outcome)), ['shutting_down', 'shutting_down']);
  });
}
