/** Who may create further jobs: shares of the queue, and limits of what the database keeps. */
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { syntheticSignal } from '../../src/engine/golden.ts';
import { openDatabase } from '../../src/service/database.ts';
import { deferred } from '../../src/service/deferred.ts';
import { ServiceError } from '../../src/service/errors.ts';
import { createAdmission, createQueueSlots } from '../../src/service/jobs/admission.ts';
import { createJobStore } from '../../src/service/jobs/job-store.ts';
import { databaseKinds, makeDatabaseUrl } from '../support/database.ts';
import { createJobClient, jobOf } from '../support/jobs.ts';
import { makeToken, startServer } from '../support/server.ts';
import { until } from '../support/wait.ts';

// The queue: every owner leaves slots to the others.

function openSlots(size: number, queued: Readonly<Record<string, number>> = {}) {
  const all = Object.values(queued).reduce((sum, one) => sum + one, 0);
  return createQueueSlots({ size, countUsed: async (owner) => ({ all, ofKey: queued[owner] ?? 0 }) });
}

const maxReserved = async (slots: ReturnType<typeof openSlots>, owner: string, size: number) => {
  for (let count = size; count > 0; count--) {
    const refusal = await slots.reserve(owner, count, async () => null).catch((error: ServiceError) => error);
    if (refusal === null) return count;
  }
  return 0;
};

test('an owner may use as many slots as stay free, and a new owner always gets one', async (t) => {
  t.is(await maxReserved(openSlots(100), 'a', 100), 50);
  t.is(await maxReserved(openSlots(100, { a: 50 }), 'a', 100), 0);
  t.is(await maxReserved(openSlots(100, { a: 50 }), 'b', 100), 25);
  t.is(await maxReserved(openSlots(100, { a: 33, b: 33 }), 'b', 100), 0);
  t.is(await maxReserved(openSlots(100, { a: 33, b: 33 }), 'c', 100), 17);
  t.is(await maxReserved(openSlots(100, { a: 50, b: 49 }), 'c', 100), 1);
  t.is(await maxReserved(openSlots(100, { a: 50, b: 50 }), 'c', 100), 0);
  t.is(await maxReserved(openSlots(1), 'a', 1), 1);
});

test('a refusal names the share and a time to retry', async (t) => {
  const failure = await openSlots(10)
    .reserve('a', 6, async () => null)
    .catch((error: ServiceError) => error);
  t.true(failure instanceof ServiceError);
  t.like(failure, {
    code: 'overloaded',
    message: 'Expected at most 5 more jobs of this owner in the queue, got 6',
    retryAfterSeconds: 5,
  });
});

test('slots stay reserved until their jobs are queued', async (t) => {
  const slots = openSlots(10);
  await slots.reserve('a', 3, async () => {
    t.is(await maxReserved(slots, 'a', 10), 2);
    t.is(await maxReserved(slots, 'b', 10), 3);
  });
  t.is(await maxReserved(slots, 'a', 10), 5);
});

// The database: an owner that keeps as many jobs or bytes as it may creates no further ones.

const owners = ['a', 'b'].map((name) => ({ key: `token:${name}`, accountId: null }));
const [a = { key: '', accountId: null }, b = a] = owners;

test('requests that come together do not pass the limit of kept jobs together', async (t) => {
  const admission = createAdmission({
    store: { countKept: async () => ({ jobs: 0, bytes: 0 }) },
    settings: { queue: 100, results: 2, resultBytes: 1 },
    countUsed: async () => ({ all: 0, ofKey: 0 }),
  });
  const all = await Promise.allSettled(
    Array.from({ length: 5 }, () => admission.reserve(a, 1, async () => 1)),
  );
  t.is(all.filter(({ status }) => status === 'fulfilled').length, 2);
});

test('a request counts while it lasts, and afterwards for the jobs that it has added', async (t) => {
  const admission = createAdmission({
    store: { countKept: async () => ({ jobs: 0, bytes: 0 }) },
    settings: { queue: 100, results: 2, resultBytes: 1 },
    countUsed: async () => ({ all: 0, ofKey: 0 }),
  });
  const refusal = { instanceOf: ServiceError, code: 'rate_limited' };
  const { promise: ended, resolve: end } = deferred<number>();
  const uploading = admission.reserve(a, 2, () => ended);
  // A count serves for a second.
  await sleep(1100);
  await t.throwsAsync(admission.check(a, 1), refusal);
  end(0);
  await uploading;
  await admission.reserve(a, 1, async () => 1);
  await admission.check(a, 1);
  await t.throwsAsync(admission.check(a, 2), refusal);
});

for (const kind of databaseKinds) {
  test(`${kind}: kept jobs and the bytes of their results are limited for each owner`, async (t) => {
    const database = await openDatabase(await makeDatabaseUrl(kind));
    const store = createJobStore(database);
    const insert = (id: string, owner = a) =>
      store.insert({
        id,
        owner,
        idempotencyKey: null,
        digest: '',
        metadata: null,
        expiresAt: Date.now() + 1e6,
      });
    const open = (results: number, resultBytes: number) =>
      createAdmission({
        store,
        settings: { queue: 100, results, resultBytes },
        countUsed: async () => ({ all: 0, ofKey: 0 }),
      });
    const refusal = { instanceOf: ServiceError, code: 'rate_limited' };
    t.deepEqual(await store.countKept(a), { jobs: 0, bytes: 0 });
    await open(2, 10).reserve(a, 2, async () => {
      for (const id of ['job_1', 'job_2']) await insert(id);
      return 2;
    });
    await insert('job_3', b);
    t.deepEqual(await store.countKept(a), { jobs: 2, bytes: 0 });
    await t.throwsAsync(open(2, 10).check(a, 1), {
      ...refusal,
      message: /^Expected at most 2 kept jobs of this owner, got 3: .* UNDERTONE_JOB_RESULTS sets/,
    });
    await open(2, 10).check(b, 1);
    await open(2, 10).check(a, 0);
    // 8 characters of 10 bytes.
    t.true(await store.fail('job_1', '{"é":"é"', Date.now() + 1e6));
    t.deepEqual(await store.countKept(a), { jobs: 2, bytes: 10 });
    await open(9, 11).check(a, 1);
    await t.throwsAsync(open(9, 10).check(a, 1), { ...refusal, message: /10 bytes of kept results of this/ });
    await store.delete('job_1');
    await open(9, 10).check(a, 8);
    await database.destroy();
  });
}

test('jobs in creation count, and those that failed do not', async (t) => {
  const settings = { queue: 100, results: 2, resultBytes: 1 };
  const countUsed = async () => ({ all: 0, ofKey: 0 });
  const store = { countKept: async () => ({ jobs: 0, bytes: 0 }) };
  const { check, reserve } = createAdmission({ store, settings, countUsed });
  const full = { instanceOf: ServiceError, code: 'rate_limited' };
  await reserve(a, 2, async () => {
    await t.throwsAsync(check(a, 1), full);
    return 2;
  });
  await t.throwsAsync(check(a, 1), full, 'the database was counted before they were in it');
  await check(b, 2);
  await t.throwsAsync(
    reserve(b, 2, async () => {
      throw new Error('no database');
    }),
    { message: 'no database' },
  );
  await check(b, 2);
});

test.serial('at the limit new jobs are a 429, and kept ones, repeats and other owners go on', async (t) => {
  const server = await startServer(t, { UNDERTONE_JOB_RESULTS: '1' });
  const { upload, ended, show, remove } = createJobClient(server);
  const audio = { name: 'audio', bytes: wavFile(syntheticSignal(1, 2)), type: 'audio/wav' } as const;
  const key = { 'Idempotency-Key': 'first' };
  const { id } = jobOf(await upload([audio], key));
  t.like(await ended(id), { status: 'done' });
  const refused = await upload([audio]);
  t.is(refused.status, 429, refused.body);
  t.is(refused.headers['retry-after'], '60');
  t.like(JSON.parse(refused.body), { code: 'rate_limited' });
  t.is(jobOf(await upload([audio], key)).id, id);
  t.like(jobOf(await show(id)), { status: 'done' });
  const other = makeToken(server, 'analyze:emotion,analyze:cognitive');
  t.is((await upload([audio], { Authorization: `Bearer ${other}` })).status, 202);
  await remove(id);
  await until(async () => (await upload([audio])).status === 202);
});
