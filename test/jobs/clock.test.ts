/** Jobs while the clock of the host is set, with a real Redis and a real database. */
import test, { type ExecutionContext } from 'ava';
import { openDatabase } from '../../src/service/database.ts';
import { deferred } from '../../src/service/deferred.ts';
import { createCipher } from '../../src/service/jobs/cipher.ts';
import { createJobStore } from '../../src/service/jobs/job-store.ts';
import { PutBack, type QueueJob } from '../../src/service/jobs/queues.ts';
import { openQueues } from '../../src/service/jobs/redis-queues.ts';
import { databaseKinds, makeDatabaseUrl } from '../support/database.ts';
import { openJobService, requestOf, secret } from '../support/job-service.ts';
import { connectRedis, useRedis } from '../support/redis.ts';
import { until } from '../support/wait.ts';

const hourMs = 3_600_000;
const owner = { key: 'token:1', accountId: null };

/** Sets the clock of this process until the end of the test. */
function setClock(t: ExecutionContext, hours: number): void {
  const { now } = Date;
  Date.now = () => now() + hours * hourMs;
  t.teardown(() => {
    Date.now = now;
  });
}

/** A queue in Redis with one job. @param process its work */
async function startJob(t: ExecutionContext, process: (job: QueueJob) => Promise<void>) {
  const redis = await useRedis(t);
  const { analyses } = openQueues(await connectRedis(t, redis.url), createCipher(secret));
  const errors: Error[] = [];
  const worker = analyses.work({
    concurrency: 1,
    process,
    onFailed: () => {},
    onError: (e) => errors.push(e),
  });
  t.teardown(() => worker.close());
  await analyses.add({ id: 'job_1', owner: owner.key, payload: { sealed: '' }, createdAt: Date.now() });
  const { queue } = analyses;
  return { redis, queue, lock: `${queue.toKey('job_1')}:lock`, errors };
}

test.serial('a running job keeps its lock while the clock is set back', async (t) => {
  const end = deferred<void>();
  let runs = 0;
  const { redis, lock, errors } = await startJob(t, async () => {
    runs++;
    await end.promise;
  });
  await until(() => runs === 1);
  setClock(t, -2);
  let left = await redis.client.pttl(lock);
  await until(async () => {
    const before = left;
    left = await redis.client.pttl(lock);
    return left > before;
  });
  end.resolve();
  await until(async () => (await redis.client.exists(lock)) === 0);
  t.deepEqual([runs, errors], [1, []]);
});

test.serial('a delayed job starts while the clock is set back', async (t) => {
  let runs = 0;
  const { queue } = await startJob(t, async () => {
    if (++runs > 1) return;
    throw new PutBack({ delayMs: 5000 });
  });
  await until(async () => (await queue.getDelayedCount()) === 1);
  setClock(t, -2);
  await until(() => runs === 2);
  t.pass();
});

for (const kind of databaseKinds) {
  test.serial(
    `${kind}: with a clock 48 h ahead a job that has not ended is there, a result is not`,
    async (t) => {
      const database = await openDatabase(await makeDatabaseUrl(kind));
      t.teardown(() => database.destroy());
      const store = createJobStore(database, () => Date.now());
      const expiresAt = Date.now() + 30 * hourMs;
      for (const id of ['open', 'ended'])
        await store.insert({ id, owner, idempotencyKey: id, digest: '', metadata: null, expiresAt });
      await store.fail('ended', '{}', expiresAt);
      setClock(t, 48);
      for (const [id, found] of [
        ['open', 'open'],
        ['ended', undefined],
      ] as const) {
        t.is((await store.read(id))?.id, found);
        t.is((await store.find(owner, id))?.id, found);
        t.is((await store.findByKey(owner, id))?.id, found);
      }
      t.deepEqual(await store.findOpen(['open', 'ended']), ['open']);
      t.deepEqual(
        (await store.list(owner, null, 10)).map(({ id }) => id),
        ['open'],
      );
    },
  );
}

test.serial(
  'a job that Redis has lost fails, although the clock was set back after its creation',
  async (t) => {
    const { jobs, redis } = await openJobService(t);
    await jobs.create('job_1', requestOf(owner, 'http://127.0.0.1:1/a.wav'));
    await redis.client.flushall();
    setClock(t, -2);
    t.like(await jobs.find(owner, 'job_1'), { status: 'failed' });
  },
);
