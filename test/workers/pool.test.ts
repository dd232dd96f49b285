import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { ServiceError } from '../../src/service/errors.ts';
import {
  createPool,
  type PendingAnalysis,
  type Pool,
  type TaskLimit,
} from '../../src/service/workers/pool.ts';
import type { Task } from '../../src/service/workers/protocol.ts';
import type { TaskKind } from '../../src/service/workers/scheduler.ts';
import { builtFile } from '../support/built-file.ts';
import type { ThreadTask } from '../support/thread.ts';
import { createGate, until } from '../support/wait.ts';

const file = builtFile('thread');
const limits = { seconds: 1, channels: 1, minSampleRate: 1, maxSampleRate: 1, deadlineSeconds: 1 };

async function open(
  t: ExecutionContext,
  workers: number,
  queue: number,
): Promise<{ pool: Pool; lost: Error[] }> {
  const lost: Error[] = [];
  const settings = { modelsDir: '', limits };
  const onLost = (cause: Error) => lost.push(cause);
  const pool = createPool({ workers, queue, settings, file, onLost });
  t.teardown(() => pool.close());
  await pool.started;
  return { pool, lost };
}

test('a pool is idle two seconds after its last task, and never while one runs', async (t) => {
  const settings = { modelsDir: '', limits };
  let idle = 0;
  const onIdle = () => {
    idle++;
  };
  const pool = createPool({ workers: 1, queue: 1, settings, file, onIdle });
  t.teardown(() => pool.close());
  await pool.started;
  const gate = createGate();
  const running = submit(pool, gate.task);
  await until(() => pool.stats().running === 1);
  const before = idle;
  await sleep(2500);
  t.is(idle, before);
  gate.open();
  await running.result;
  await until(() => idle > before);
});

type Released = { count: number };

/** Never reached. */
const farMs = 3_600_000;

function submit(
  pool: Pool,
  task: ThreadTask,
  deadlineMs = farMs,
  released: Released = { count: 0 },
  account = 'a',
  kind: Exclude<TaskKind, 'job'> = 'upload',
): PendingAnalysis {
  const body = Uint8Array.from(Buffer.from(JSON.stringify(task)));
  const release = () => {
    released.count++;
  };
  const limit: TaskLimit =
    kind === 'report' ? { kind, maxRunMs: deadlineMs } : { kind, deadlineAt: performance.now() + deadlineMs };
  const receipt = { keyId: 'key', purpose: null, always: false };
  return pool.submit(
    { body: [body], boundary: 'b', signals: ['emotion'], requestId: 'r', receipt },
    { account, release, ...limit },
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

/** Resolves once two parallel tasks run on two workers. */
async function bothReady(pool: Pool): Promise<void> {
  await until(async () => {
    const answers = await Promise.all([1, 2].map(() => submit(pool, { do: 'work', ms: 100 }).result));
    const workers = answers.map((answer) => JSON.parse(Buffer.from(answer?.json ?? []).toString()).thread);
    return new Set(workers).size === 2;
  });
}

test.serial('steps of live sessions precede uploads and are not refused by a full queue', async (t) => {
  const { pool } = await open(t, 1, 1);
  const gate = createGate();
  const running = submit(pool, gate.task);
  const order: string[] = [];
  const queued = submit(pool, { do: 'echo' }).result.then(() => order.push('upload'));
  const steps = [1, 2].map((count) =>
    submit(pool, { do: 'echo' }, farMs, undefined, 'b', 'step').result.then(() =>
      order.push(`step ${count}`),
    ),
  );
  const cancelled = submit(pool, { do: 'echo' }, farMs, undefined, 'b', 'step');
  t.is(pool.stats().queued, 4);
  cancelled.cancel();
  t.is(pool.stats().queued, 3);
  gate.open();
  await Promise.all([running.result, queued, ...steps]);
  t.deepEqual(order, ['step 1', 'step 2', 'upload']);
  t.is(await cancelled.result, null);
});

test.serial('a started pool is warm and replies', async (t) => {
  const { pool } = await open(t, 2, 2);
  t.true(pool.warm());
  const released = { count: 0 };
  const answer = await submit(pool, { do: 'echo' }, farMs, released).result;
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

const sharedCounts = () => new Int32Array(new SharedArrayBuffer(8));

/** Two workers; `load` lets them finish. */
function openUnloaded(t: ExecutionContext) {
  const [starts, loaded] = [sharedCounts(), sharedCounts()];
  const settings = { modelsDir: '', limits, starts, loaded };
  const pool = createPool({ workers: 2, queue: 1, settings, file });
  const load = () => {
    Atomics.store(loaded, 0, 1);
    Atomics.notify(loaded, 0);
  };
  t.teardown(async () => {
    load();
    await pool.close();
  });
  return { pool, load, started: () => Atomics.load(starts, 1), isLoaded: () => Atomics.load(loaded, 0) };
}

test.serial('the other workers start once the first is ready', async (t) => {
  const { pool, load, started } = openUnloaded(t);
  await until(() => started() > 0);
  await sleep(500);
  t.is(started(), 1);
  t.false(pool.warm());
  load();
  await pool.ready;
  t.true(pool.warm());
  await pool.started;
  t.is(started(), 2);
});

test.serial('close waits until a worker has loaded, and starts no other', async (t) => {
  const { pool, load, started, isLoaded } = openUnloaded(t);
  await until(() => started() > 0);
  const loadedAtEnd = pool.close().then(isLoaded);
  await sleep(500);
  load();
  t.is(await loadedAtEnd, 1);
  t.is(started(), 1);
});

test.serial('a pool whose first worker cannot start rejects, without a retry', async (t) => {
  const settings = { modelsDir: '', limits, starts: sharedCounts(), failing: 1 };
  const pool = createPool({ workers: 2, queue: 1, settings, file });
  t.teardown(() => pool.close());
  await t.throwsAsync(pool.ready, { any: true, message: /no models/ });
  await t.throwsAsync(pool.started, { any: true, message: /no models/ });
  t.false(pool.warm());
  t.is(Atomics.load(settings.starts, 1), 1);
});

test.serial('another worker that cannot start is replaced', async (t) => {
  const settings = { modelsDir: '', limits, starts: sharedCounts(), failing: 2 };
  const lost: Error[] = [];
  const pool = createPool({ workers: 2, queue: 1, settings, file, onLost: (cause) => lost.push(cause) });
  t.teardown(() => pool.close());
  await pool.started;
  t.is(Atomics.load(settings.starts, 1), 3);
  t.deepEqual(
    lost.map(({ message }) => message),
    ['no models'],
  );
});

test.serial('a task beyond the queue is refused at once', async (t) => {
  const { pool } = await open(t, 1, 2);
  const gate = createGate();
  const jobs = [1, 2, 3].map(() => submit(pool, gate.task));
  t.false(pool.accepts('a'));
  const released = { count: 0 };
  t.is(
    t.throws(() => submit(pool, { do: 'echo' }, farMs, released), { instanceOf: ServiceError })?.code,
    'overloaded',
  );
  t.is(released.count, 1);
  t.deepEqual(pool.stats(), { queued: 2, running: 1, lost: 0, accounts: 1, displaced: 0 });
  gate.open();
  t.deepEqual(await Promise.all(jobs.map(outcome)), ['flag 0', 'flag 0', 'flag 0']);
});

test.serial('in a full queue an account within its share displaces a task of another one', async (t) => {
  const { pool } = await open(t, 1, 4);
  const ends: string[] = [];
  const gate = createGate();
  const start = (name: string, account: string, released?: Released) => {
    const job = submit(pool, gate.task, farMs, released, account);
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
  t.deepEqual(ends, ['a4 overloaded', 'a0 flag 0', 'b0 flag 0', 'a1 flag 0', 'a2 flag 0', 'a3 flag 0']);
});

test.serial('a pool is full once it refuses every account', async (t) => {
  const { pool } = await open(t, 1, 2);
  const { task } = createGate();
  const jobs = ['a', 'a', 'b'].map((account) => submit(pool, task, farMs, undefined, account));
  await sleep(20);
  t.true(pool.fullForMs() > 0);
  t.deepEqual([pool.accepts('a'), pool.accepts('b'), pool.accepts('c')], [false, false, false]);
  jobs.at(-1)?.cancel();
  t.is(pool.fullForMs(), 0);
  for (const job of jobs) job.cancel();
  t.deepEqual(await Promise.all(jobs.map(outcome)), ['cancelled', 'cancelled', 'cancelled']);
});

test.serial('a deadline fails queued and running tasks at once, and terminates no thread', async (t) => {
  const { pool, lost } = await open(t, 1, 2);
  const released = { count: 0 };
  const { task } = createGate();
  const running = submit(pool, task, 500, released);
  const queued = submit(pool, task, 50, released);
  const ended: string[] = [];
  const record = async (name: string, job: PendingAnalysis) => ended.push(`${name}: ${await outcome(job)}`);
  await Promise.all([record('running', running), record('queued', queued)]);
  t.deepEqual(ended, ['queued: deadline', 'running: deadline']);
  // The gate stays closed: the flag ended the task.
  t.is(await outcome(submit(pool, { do: 'echo' })), 'flag 0');
  t.is(released.count, 2);
  t.deepEqual(lost, []);
});

test.serial(
  'a cancelled task is removed from the queue, or ends when its thread reads the flag',
  async (t) => {
    const { pool } = await open(t, 1, 2);
    const released = { count: 0 };
    const { task } = createGate();
    const running = submit(pool, task, farMs, released);
    // It would end its worker.
    const queued = submit(pool, { do: 'exit' }, farMs, released);
    queued.cancel();
    t.is(released.count, 1);
    running.cancel();
    t.deepEqual(await Promise.all([running, queued].map(outcome)), ['cancelled', 'cancelled']);
    t.is(await outcome(submit(pool, { do: 'echo' })), 'flag 0');
    t.is(released.count, 2);
    t.is(pool.stats().lost, 0);
  },
);

test.serial('without a ready worker tasks wait in the queue of the pool', async (t) => {
  const { pool } = await open(t, 1, 2);
  t.is(await outcome(submit(pool, { do: 'exit' })), 'worker_lost');
  const gate = createGate();
  const tasks = [submit(pool, gate.task), submit(pool, { do: 'echo' })];
  t.false(pool.warm());
  t.like(pool.stats(), { queued: 2, running: 0 });
  t.is(t.throws(() => submit(pool, { do: 'echo' }), { instanceOf: ServiceError })?.code, 'overloaded');
  await until(() => pool.stats().running === 1);
  t.like(pool.stats(), { queued: 1, running: 1 });
  gate.open();
  t.deepEqual(await Promise.all(tasks.map(outcome)), ['flag 0', 'flag 0']);
});

for (const how of ['exit', 'throw', 'exhaust'] as const) {
  test.serial(`a worker that dies (${how}) fails its own task only and is replaced`, async (t) => {
    const { pool, lost } = await open(t, 2, 8);
    const released = { count: 0 };
    const other = submit(pool, { do: 'work', ms: 300 });
    const doomed = submit(pool, { do: how }, farMs, released);
    const after = [1, 2, 3, 4].map(() => submit(pool, { do: 'work', ms: 20 }));
    t.is(await outcome(doomed), 'worker_lost');
    t.is(await outcome(other), 'flag 0');
    t.deepEqual(await Promise.all(after.map(outcome)), ['flag 0', 'flag 0', 'flag 0', 'flag 0']);
    t.is(released.count, 1);
    t.is(pool.stats().lost, 1);
    t.is(lost.length, 1);
    await bothReady(pool);
  });
}

test.serial('threads that die repeatedly are always replaced', async (t) => {
  const { pool } = await open(t, 1, 8);
  for (let round = 0; round < 5; round++) t.is(await outcome(submit(pool, { do: 'exit' })), 'worker_lost');
  t.is(await outcome(submit(pool, { do: 'echo' })), 'flag 0');
  t.is(pool.stats().lost, 5);
});

test.serial('a thread whose heap is full replies and is replaced', async (t) => {
  const { pool, lost } = await open(t, 1, 8);
  const done = async (order: ThreadTask) =>
    JSON.parse(Buffer.from((await submit(pool, order).result)?.json ?? []).toString()).thread;
  const before = await done({ do: 'echo' });
  t.is(await done({ do: 'fill' }), before);
  await until(async () => (await done({ do: 'work', ms: 20 })) !== before);
  t.deepEqual(lost, []);
});

test.serial('service errors are rebuilt, other errors keep their cause', async (t) => {
  const { pool } = await open(t, 1, 1);
  const failure = (await t.throwsAsync(submit(pool, { do: 'refuse' }).result)) as ServiceError;
  t.true(failure instanceof ServiceError);
  t.deepEqual(failure.problems, [
    { where: 'body', field: 'audio', reason: 'audio.malformed', message: 'no' },
  ]);
  t.is(await outcome(submit(pool, { do: 'fault' })), 'Error: a secret cause');
});

test.serial('an error of a task or of its message is no lost worker', async (t) => {
  const { pool, lost } = await open(t, 1, 1);
  t.is(await outcome(submit(pool, { do: 'reject' })), 'not a function');
  const task = { signals: [], boundary: '', requestId: '', body: [], maxSeconds: () => 1 };
  const options = { account: 'a', release: () => {}, deadlineAt: performance.now() + farMs };
  t.regex(await outcome(pool.submit(task as unknown as Task, options)), /could not be cloned/);
  t.is(await outcome(submit(pool, { do: 'echo' })), 'flag 0');
  t.is(pool.stats().lost, 0);
  t.deepEqual(lost, []);
});

test.serial('failAll fails every task', async (t) => {
  const { pool } = await open(t, 1, 1);
  const { task } = createGate();
  const jobs = [1, 2].map(() => submit(pool, task));
  pool.failAll(new ServiceError('shutting_down', 'x'));
  t.deepEqual(await Promise.all(jobs.map(outcome)), ['shutting_down', 'shutting_down']);
});

test.serial('the time of a report counts from its start', async (t) => {
  const { pool } = await open(t, 1, 1);
  const gates = [createGate(), createGate()] as const;
  const first = submit(pool, gates[0].task, farMs, undefined, 'a', 'report');
  const second = submit(pool, gates[1].task, 0, undefined, 'a', 'report');
  t.is(pool.stats().queued, 1);
  gates[0].open();
  t.deepEqual(await Promise.all([first, second].map(outcome)), ['flag 0', 'deadline']);
  gates[1].open();
});

/** Submits a task of many units of work, and returns once it runs. */
function submitUnits(pool: Pool, account: string) {
  const gate = createGate();
  const job = submit(pool, { ...gate.task, do: 'units' } as ThreadTask, farMs, undefined, account);
  return { job, end: gate.open };
}

test.serial('a task of another account, and a step, run before a task that runs has ended', async (t) => {
  const { pool } = await open(t, 1, 4);
  const long = submitUnits(pool, 'a');
  const own = outcome(submit(pool, { do: 'echo' }));
  t.is(await outcome(submit(pool, { do: 'echo' }, farMs, undefined, 'b')), 'flag 0');
  t.is(await outcome(submit(pool, { do: 'echo' }, farMs, undefined, 'b', 'report')), 'flag 0');
  t.is(await outcome(submit(pool, { do: 'echo' }, farMs, undefined, 'a', 'step')), 'flag 0');
  t.like(pool.stats(), { queued: 1, running: 1 });
  long.end();
  t.deepEqual(await Promise.all([outcome(long.job), own]), ['flag 0', 'flag 0']);
});

test.serial(
  'long tasks of two accounts take turns, and a cancelled one ends while it is paused',
  async (t) => {
    const { pool } = await open(t, 1, 4);
    const [one, other] = [submitUnits(pool, 'a'), submitUnits(pool, 'b')];
    for (const account of ['c', 'd', 'c'])
      t.is(await outcome(submit(pool, { do: 'echo' }, farMs, undefined, account)), 'flag 0');
    one.job.cancel();
    t.is(await outcome(one.job), 'cancelled');
    other.end();
    t.is(await outcome(other.job), 'flag 0');
    t.like(pool.stats(), { queued: 0, running: 0 });
  },
);

test.serial('a worker starts at most four tasks at once, but for steps', async (t) => {
  const { pool } = await open(t, 1, 8);
  const long = ['a', 'b', 'c', 'd'].map((account) => submitUnits(pool, account));
  await until(() => pool.stats().queued === 0);
  const fifth = submit(pool, { do: 'echo' }, farMs, undefined, 'e');
  t.is(await outcome(submit(pool, { do: 'echo' }, farMs, undefined, 'f', 'step')), 'flag 0');
  t.is(pool.stats().queued, 1);
  for (const { end } of long) end();
  t.deepEqual(
    await Promise.all([...long.map(({ job }) => job), fifth].map(outcome)),
    Array(5).fill('flag 0'),
  );
});

test.serial('a worker that dies fails the tasks that it has paused', async (t) => {
  const { pool, lost } = await open(t, 1, 8);
  const long = submitUnits(pool, 'a');
  t.is(await outcome(submit(pool, { do: 'exit' }, farMs, undefined, 'b')), 'worker_lost');
  t.is(await outcome(long.job), 'worker_lost');
  t.is(await outcome(submit(pool, { do: 'echo' })), 'flag 0');
  t.true(lost.length > 0);
});
