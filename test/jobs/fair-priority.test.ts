import test from 'ava';
import { createCipher } from '../../src/service/jobs/payload.ts';
import { createFairPriority, maxPriority, openQueues } from '../../src/service/jobs/redis-queues.ts';
import { useRedis } from '../support/redis.ts';

test.serial('the first job of another owner comes right after the one that is served', async (t) => {
  const redis = await useRedis(t);
  const order = createFairPriority(redis.client, 'q');
  for (let turn = 1; turn <= 100; turn++) t.is(await order.next('a'), turn);
  t.is(await order.countWaiting('a'), 100);
  t.is(await order.next('b'), 1);
  await order.advance(40);
  await order.advance(39);
  t.is(await order.countWaiting('a'), 60);
  t.is(await order.countWaiting('b'), 0);
  t.is(await order.next('b'), 41);
  t.is(await order.next('b'), 42);
  await order.remove('b');
  t.is(await order.next('b'), 42);
  t.is(await order.next('a'), 101);
});

test.serial('owners that wait are known to Redis by pseudonyms', async (t) => {
  const redis = await useRedis(t);
  const cipher = createCipher('s'.repeat(32));
  const queues = openQueues(redis.client, cipher);
  const entry = { id: 'job_1', owner: 'account:ada', payload: { sealed: '' }, createdAt: 1 };
  await queues.analyses.add(entry);
  t.is(await queues.analyses.countWaiting('account:ada'), 1);
  t.is((await redis.dump()).indexOf('ada'), -1);
  t.not(cipher.pseudonym('account:ada'), createCipher('t'.repeat(32)).pseudonym('account:ada'));
  await queues.close();
});

test.serial('turns restart before they are used up, and waiting jobs keep their order', async (t) => {
  const redis = await useRedis(t);
  const queues = openQueues(redis.client, createCipher('s'.repeat(32)));
  const { analyses } = queues;
  const add = (id: string, owner: string) =>
    analyses.add({ id, owner, payload: { sealed: '' }, createdAt: 1 });
  await redis.client.set(`undertone:served:${analyses.queue.name}`, 2 ** 20 - 1);
  for (const id of ['a1', 'a2', 'a3']) await add(id, 'a');
  await add('b1', 'b');
  const first = await analyses.queue.getJob('a1');
  t.is(first?.priority, 2 ** 20);
  let finish = () => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const ignore = () => {};
  const worker = analyses.work({
    concurrency: 1,
    process: () => held,
    onFailed: ignore,
    onError: ignore,
  });
  const priorities = async () =>
    Promise.all(['a2', 'a3', 'b1'].map(async (id) => (await analyses.queue.getJob(id))?.priority));
  while ((await priorities()).some((priority) => (priority ?? 0) > 1000)) await new Promise(setImmediate);
  t.deepEqual(await priorities(), [1, 2, 1]);
  t.is(await analyses.countWaiting('a'), 2);
  await add('c1', 'c');
  const inOrder = await analyses.queue.getJobs(['prioritized'], 0, -1, true);
  t.deepEqual(
    inOrder.map(({ id }) => id).filter((id) => id !== 'a1'),
    ['b1', 'a2', 'c1', 'a3'],
  );
  const closed = worker.close();
  finish();
  await closed;
  await queues.close();
});

test.serial('an owner with more jobs than turns waits at the last one', async (t) => {
  const redis = await useRedis(t);
  const order = createFairPriority(redis.client, 'q');
  await redis.client.zadd('undertone:turns:q', maxPriority - 1, 'a');
  t.is(await order.next('a'), maxPriority);
  t.is(await order.next('a'), maxPriority);
});
