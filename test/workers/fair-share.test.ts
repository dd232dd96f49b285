/** Shares of accounts: a budget, a queue, a semaphore and the order of jobs. */

import { setImmediate as tick } from 'node:timers/promises';
import test from 'ava';
import fc from 'fast-check';
import {
  createFairBudget,
  createFairQueue,
  createFairSemaphore,
  type Permit,
} from '../../src/service/fair-share.ts';
import { createCipher } from '../../src/service/jobs/cipher.ts';
import { createFairPriority, maxPriority } from '../../src/service/jobs/redis-priorities.ts';
import { openQueues } from '../../src/service/jobs/redis-queues.ts';
import { useRedis } from '../support/redis.ts';

type Task = { readonly account: string; readonly number: number };

const numRuns = 500;
const accounts = ['a', 'b', 'c', 'd', 'e'];
const act = fc.oneof(
  { weight: 4, arbitrary: fc.record({ add: fc.constantFrom(...accounts) }) },
  { weight: 3, arbitrary: fc.constant({ next: true } as const) },
  { weight: 1, arbitrary: fc.record({ cancel: fc.nat(20) }) },
);
const runs = fc.tuple(fc.integer({ min: 0, max: 12 }), fc.array(act, { maxLength: 80 }));
type Run = typeof runs extends fc.Arbitrary<infer Value> ? Value : never;
type Queue = ReturnType<typeof createFairQueue<Task>>;

const tasksOf = (queue: Queue, account: string) => queue.all().filter((task) => task.account === account);

/** Adds as the pool does. @returns the task that gave way */
function add(queue: Queue, task: Task): Task | null {
  const victim = queue.victim();
  if (victim !== null) queue.remove(victim.account, victim);
  queue.add(task.account, task);
  return victim;
}

type Watch = {
  arrives?(queue: Queue, task: Task, accepted: boolean): void;
  gaveWay?(queue: Queue, victim: Task, task: Task): void;
  leaves?(queue: Queue, task: Task): void;
  after?(queue: Queue): void;
};

function play([places, acts]: Run, watch: Watch): void {
  const queue = createFairQueue<Task>(places);
  for (const [number, one] of acts.entries()) {
    if ('add' in one) {
      const task = { account: one.add, number };
      const accepted = queue.accepts(task.account);
      watch.arrives?.(queue, task, accepted);
      const victim = accepted ? add(queue, task) : null;
      if (victim !== null) watch.gaveWay?.(queue, victim, task);
    } else if ('next' in one) {
      const task = queue.next();
      if (task !== null) watch.leaves?.(queue, task);
    } else {
      const task = queue.all()[one.cancel];
      if (task !== undefined) queue.remove(task.account, task);
    }
    watch.after?.(queue);
  }
}

test('no more wait than there are places, and a single account may take them all', (t) => {
  const property = fc.property(runs, (run) =>
    play(run, { after: (queue) => t.true(queue.size() <= run[0]) }),
  );
  fc.assert(property, { numRuns });
  const queue = createFairQueue<Task>(5);
  for (let number = 0; number < 5; number++) {
    t.true(queue.accepts('a'));
    t.is(add(queue, { account: 'a', number }), null);
  }
  t.false(queue.accepts('a'));
  t.false(queue.refusesAll());
});

test('an account is refused only when every place is taken and it is at its share', (t) => {
  const arrives: Watch['arrives'] = (queue, { account }, accepted) => {
    const waiting = new Set([...queue.all().map((task) => task.account), account]).size;
    t.is(accepted, queue.size() < places || tasksOf(queue, account).length + 1 <= places / waiting);
  };
  let places = 0;
  const property = fc.property(runs, (run) => {
    places = run[0];
    play(run, { arrives });
  });
  fc.assert(property, { numRuns });
});

test('only the newest task of an account over its share gives way', (t) => {
  const property = fc.property(runs, ([places, acts]) =>
    play([places, acts], {
      gaveWay: (queue, victim, task) => {
        const rest = tasksOf(queue, victim.account);
        t.not(victim.account, task.account);
        t.true(rest.every(({ number }) => number < victim.number));
        const waiting = new Set(queue.all().map(({ account }) => account)).size;
        t.true(rest.length + 1 > places / waiting);
      },
    }),
  );
  fc.assert(property, { numRuns });
});

test('all are refused exactly when every account is, a new one too', (t) => {
  const after = (queue: Queue) => {
    const refused = [...accounts, 'newcomer'].every((account) => !queue.accepts(account));
    t.is(queue.refusesAll(), refused);
  };
  const property = fc.property(runs, (run) => play(run, { after }));
  fc.assert(property, { numRuns });
});

test('tasks of an account leave in their order, and accounts take turns', (t) => {
  const property = fc.property(runs, (run) => {
    /** For each waiting account, which others left since it last did or began to wait. */
    const since = new Map<string, string[]>();
    play(run, {
      leaves: (queue, task) => {
        t.true(tasksOf(queue, task.account).every(({ number }) => number > task.number));
        since.delete(task.account);
        for (const left of since.values()) {
          t.false(left.includes(task.account));
          left.push(task.account);
        }
      },
      after: (queue) => {
        const waiting = new Set(queue.all().map(({ account }) => account));
        for (const account of since.keys()) if (!waiting.has(account)) since.delete(account);
        for (const account of waiting) if (!since.has(account)) since.set(account, []);
      },
    });
  });
  fc.assert(property, { numRuns });
});

// A budget shared by keys with dynamic thresholds: single cases, and random sequences of reservations and releases.

const limit = 1024;
const keys = ['a', 'b', 'c', 'd'] as const;

type Step = readonly [key: (typeof keys)[number], amount: number];
const steps = fc.array(fc.tuple(fc.constantFrom(...keys), fc.integer({ min: -200, max: 400 })), {
  maxLength: 60,
});
const shares = fc.constantFrom(1, 3);

/** Negative amounts are released, up to the key's reservation. @returns the reservations of each key after every step */
function* playBudget(sequence: readonly Step[], shareOfFree: number) {
  const budget = createFairBudget(limit, { shareOfFree, firstAmount: 0 });
  const reservations = new Map(keys.map((key) => [key, budget.open([key])]));
  const held: Record<string, number> = { a: 0, b: 0, c: 0, d: 0 };
  for (const [key, amount] of sequence) {
    const before = held[key] as number;
    const change = Math.max(amount, -before);
    const free = limit - budget.used();
    const added = change > 0 ? reservations.get(key)?.add(change) : true;
    if (change < 0) reservations.get(key)?.release(-change);
    if (added) held[key] = before + change;
    yield { budget, held, free, before, change, added };
  }
}

test('the total equals the open reservations, within the limit', (t) => {
  const property = fc.property(steps, shares, (sequence, shareOfFree) => {
    for (const { budget, held } of playBudget(sequence, shareOfFree)) {
      const values = Object.values(held);
      t.is(
        budget.used(),
        values.reduce((sum, value) => sum + value, 0),
      );
      t.is(budget.keys(), values.filter((value) => value > 0).length);
      t.true(budget.used() <= limit);
    }
  });
  fc.assert(property);
});

test('a reservation succeeds while the key holds at most its share of what is free', (t) => {
  const property = fc.property(steps, shares, (sequence, shareOfFree) => {
    for (const { free, before, change, added } of playBudget(sequence, shareOfFree)) {
      if (change > 0) t.is(added, before + change <= shareOfFree * (free - change));
    }
  });
  fc.assert(property);
});

test('a key without a reservation can reserve its share of what is free', (t) => {
  const property = fc.property(steps, shares, (sequence, shareOfFree) => {
    const share = shareOfFree / (shareOfFree + 1);
    for (const { budget, held } of playBudget(sequence, shareOfFree)) {
      t.is(budget.available('newcomer'), Math.floor(share * (limit - budget.used())));
      const holders = Object.values(held).filter((value) => value > 0).length;
      if (holders === 1) t.true(budget.used() <= share * limit);
    }
  });
  fc.assert(property);
});

test('a reservation is released in part and in the end', (t) => {
  const budget = createFairBudget(limit, { shareOfFree: 3 });
  const reservation = budget.open(['a']);
  t.true(reservation.add(700));
  t.false(reservation.add(100));
  reservation.release(300);
  t.is(budget.used(), 400);
  t.true(reservation.add(100));
  reservation.release();
  reservation.release();
  t.is(budget.used(), 0);
});

test('one owner, or one host, gets at most half', (t) => {
  const budget = createFairBudget(64);
  const add = (owner: string, host: string) => {
    const reservation = budget.open([`owner ${owner}`, `host ${host}`]);
    return reservation.add(1) ? reservation.release : null;
  };
  const releases: (() => void)[] = [];
  for (let release = add('a', 'x'); release !== null; release = add('a', 'x')) releases.push(release);
  t.is(releases.length, 32);
  t.is(add('a', 'y'), null);
  t.is(add('b', 'x'), null);
  const other = add('b', 'y');
  t.truthy(other);
  releases.pop()?.();
  t.is(add('a', 'x'), null, 'the other reservation uses part of the rest');
  other?.();
  t.truthy(add('a', 'x'));
  for (const release of releases) release();
  t.truthy(add('b', 'x'));
});

test('a reservation grows while as much stays free, and is released as a whole', (t) => {
  const budget = createFairBudget(1000);
  const [a, b] = [budget.open(['a']), budget.open(['b'])];
  t.true(a.add(400));
  t.false(a.add(101));
  t.true(a.add(100));
  t.true(b.add(250));
  t.false(b.add(1));
  t.false(a.add(1));
  a.release();
  t.true(b.add(250));
  t.true(a.add(500), 'the first amount of a key may use all that is free');
});

// Analysis slots of a queue.

function openSlots(size: number) {
  const left: number[] = [];
  const slots = createFairSemaphore(size, (count) => left.push(count));
  return { ...slots, left };
}

test('a job that waits for a server releases its slot, and acquires one again afterwards', async (t) => {
  const slots = openSlots(1);
  const first = (await slots.acquire('a')) as Permit;
  t.is(slots.acquire('b'), null);
  let answer = (_: string) => {};
  const server = new Promise<string>((resolve) => {
    answer = resolve;
  });
  let back = false;
  const work = first.releaseDuring(server).then((value) => {
    back = true;
    return value;
  });
  const second = (await slots.acquire('b')) as Permit;
  answer('value');
  await tick();
  t.false(back);
  second.release();
  t.is(await work, 'value');
  t.deepEqual(slots.left, [1, 0]);
  first.release();
  first.release();
  t.truthy(await slots.acquire('c'));
  t.is(slots.acquire('c'), null, 'a slot is released once');
});

test('owners that wait for a slot take turns', async (t) => {
  const slots = openSlots(4);
  const held = await Promise.all(
    ['a', 'a', 'a', 'b'].map((owner) => slots.acquire(owner) as Promise<Permit>),
  );
  const order: string[] = [];
  const back = held.map(async (slot, index) => {
    await slot.releaseDuring(tick());
    order.push(index < 3 ? 'a' : 'b');
    slot.release();
  });
  const others = await Promise.all([0, 1, 2, 3].map(() => slots.acquire('c') as Promise<Permit>));
  await tick();
  await tick();
  for (const slot of others) slot.release();
  await Promise.all(back);
  t.deepEqual(order, ['a', 'b', 'a', 'a']);
});

test('a job whose fetch fails holds no slot', async (t) => {
  const slots = openSlots(1);
  const slot = (await slots.acquire('a')) as Permit;
  await t.throwsAsync(slot.releaseDuring(Promise.reject(new Error('unreachable'))), {
    message: 'unreachable',
  });
  slot.release();
  t.deepEqual(slots.left, [1, 0]);
  t.truthy(slots.acquire('a'));
  t.is(slots.acquire('a'), null);
});

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
