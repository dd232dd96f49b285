/** What earlier releases left in Redis and in the database, and what later ones leave there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import Libsql from 'libsql';
import { defaultOptions } from '../../src/analysis/types.ts';
import { openDatabase } from '../../src/db/database.ts';
import { digestRequest } from '../../src/jobs/digest.ts';
import { createCipher } from '../../src/jobs/encryption.ts';
import {
  decryptPayload,
  type EncryptedPayload,
  NewerPayloadError,
  PayloadError,
} from '../../src/jobs/payload.ts';
import { makeFolder } from '../support/folder.ts';
import { openJobService, secret } from '../support/job-service.ts';

const folder = new URL('release-0.1.0/', import.meta.url);
const payloads: Readonly<Record<string, EncryptedPayload>> = JSON.parse(
  readFileSync(new URL('payloads-1.json', folder), 'utf8'),
);
const installation = '00000000-0000-4000-8000-000000000001';
const owner = { key: 'token:released', accountId: null };
const waitingId = 'job_releasedWaiting00001';
const cipher = createCipher(secret);

/** @returns its address */
function restoreDatabase(): string {
  const path = join(makeFolder(), 'undertone.db');
  const database = new Libsql(path);
  database.exec(readFileSync(new URL('database-0006.sql', folder), 'utf8'));
  database.close();
  return `file:${path}`;
}

test('payloads of the first release with jobs are read', (t) => {
  t.deepEqual(decryptPayload(payloads[waitingId] as EncryptedPayload, waitingId, cipher), {
    source: { kind: 'upload', sizes: { audio: 4, baselines: [] } },
    ...defaultOptions,
    callback: null,
    owner: owner.key,
    installation,
    usage: null,
    receipt: null,
    cancelledAt: null,
  });
  const id = 'job_releasedObject000003';
  t.like(decryptPayload(payloads[id] as EncryptedPayload, id, cipher), {
    source: { kind: 'object', url: 'https://bucket.example/a.wav' },
    channel: 1,
    callback: 'https://hooks.example.org/',
  });
});

test('a baseline in a payload of the first release is the only one', (t) => {
  const source = { kind: 'upload', sizes: { audio: 4, baseline: 7 } };
  const json = { source, channel: null, callback: null, holder: owner.key, installation };
  t.like(decryptPayload(sealed(json), 'job_1', cipher), {
    source: { kind: 'upload', sizes: { audio: 4, baselines: [7] } },
  });
});

const sealed = (value: unknown): EncryptedPayload => ({
  sealed: cipher.encrypt(Buffer.from(JSON.stringify(value)), 'job_1/order').toString('base64'),
});

test('payloads of later releases have an error of their own, unlike malformed ones', (t) => {
  const read = (value: unknown) => () => decryptPayload(sealed(value), 'job_1', cipher);
  t.throws(read({ version: 3, anything: true }), {
    instanceOf: NewerPayloadError,
    message: 'Expected a payload of version 1 to 2, got version 3',
  });
  const right = {
    source: { kind: 'object', url: 'x' },
    ...defaultOptions,
    callback: null,
    holder: 'h',
    installation,
  };
  t.is(read({ version: 2, ...right, later: 1 })().owner, 'h');
  for (const wrong of [
    null,
    'x',
    {},
    { ...right, channel: '1' },
    { ...right, version: 0 },
    { ...right, source: {} },
  ]) {
    t.throws(read(wrong), { instanceOf: PayloadError }, JSON.stringify(wrong));
  }
  t.throws(() => decryptPayload(sealed(right), 'job_2', cipher), { instanceOf: PayloadError });
});

test('the database of the first release with jobs is migrated, and repeated keys return its jobs', async (t) => {
  const url = restoreDatabase();
  const database = await openDatabase(url);
  const rows = await database.selectFrom('jobs').select(['id', 'digest', 'outcome']).orderBy('id').execute();
  t.deepEqual(rows, [
    { id: 'job_releasedDone00000002', digest: null, outcome: 'done' },
    { id: waitingId, digest: null, outcome: null },
  ]);
  await database.destroy();
});

test.serial('a job that the first release queued is analysed, after its key was repeated', async (t) => {
  const { jobs, queues, work } = await openJobService(t, {}, restoreDatabase());
  await jobs.uploadStore.append(waitingId, 'audio', 0, Buffer.from('text'));
  // The first release gave its jobs no turns.
  const payload = payloads[waitingId] as EncryptedPayload;
  await queues.analyses.queue.add('analysis', payload, { jobId: waitingId });
  t.like(await jobs.find(owner, waitingId), { status: 'waiting', resultJson: null });
  const digest = digestRequest(cipher.digestKey, { source: { url: 'x' }, ...defaultOptions, callback: null });
  t.is((await jobs.findByKey(owner, 'order-1', digest))?.id, waitingId);
  t.is((await jobs.list(owner, null))?.jobs.length, 2);
  const done = await jobs.find(owner, 'job_releasedDone00000002');
  t.is(done?.resultJson, '{"status":"ok"}', 'a stored report is returned as it is, whatever fields it has');
  t.is((await jobs.stats()).waiting, 1);
  await work();
  while ((await jobs.find(owner, waitingId))?.finished_at === null) await sleep(50);
  const failed = await jobs.find(owner, waitingId);
  t.is(failed?.status, 'failed');
  t.like(JSON.parse(failed?.errorJson ?? ''), {
    detail: [{ loc: ['body', 'audio'], type: 'value_error.audio.unsupported' }],
  });
});

test.serial('a job that a later release queued is left to a worker of that release', async (t) => {
  const { jobs, queues, log, work } = await openJobService(t);
  const url = 'https://bucket.example/a.wav';
  const request = { owner, idempotencyKey: null, digest: '', ...defaultOptions, callback: null };
  await jobs.create('job_1', { ...request, source: { kind: 'object', url } });
  const job = await queues.analyses.queue.getJob('job_1');
  await job?.updateData(sealed({ version: 3 }));
  await work();
  const left = () => log().find(({ msg }) => msg === 'job of a later release left in the queue');
  while (left() === undefined) await sleep(50);
  while ((await job?.getState()) !== 'delayed') await sleep(50);
  t.like(await jobs.find(owner, 'job_1'), { status: 'waiting', errorJson: null });
  t.is((await queues.analyses.queue.getJob('job_1'))?.attemptsMade, 0);
});
