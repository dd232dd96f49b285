import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { defaultOptions } from '../../src/engine/chunks.ts';
import {
  createCipher,
  decryptPayload,
  type EncryptedPayload,
  encryptPayload,
  NewerPayloadError,
  type Payload,
  PayloadError,
} from '../../src/service/jobs/payload.ts';
import { openJobService, secret } from '../support/job-service.ts';

const owner = { key: 'token:1', accountId: null };
const cipher = createCipher(secret);

const sealed = (value: unknown): EncryptedPayload => ({
  sealed: cipher.encrypt(Buffer.from(JSON.stringify(value)), 'job_1/payload').toString('base64'),
});

const payload: Payload = {
  source: { kind: 'upload', sizes: { audio: 4, baselines: [7] } },
  ...defaultOptions,
  callback: null,
  receipt: null,
  usage: null,
  metadata: {},
  owner: owner.key,
  installation: '00000000-0000-4000-8000-000000000001',
  cancelledAt: null,
};

test('a payload is read as it was written, for its own job alone', (t) => {
  const encrypted = encryptPayload(payload, 'job_1', cipher);
  t.deepEqual(decryptPayload(encrypted, 'job_1', cipher), payload);
  t.throws(() => decryptPayload(encrypted, 'job_2', cipher), { instanceOf: PayloadError });
});

test('payloads of later releases have an error of their own, unlike malformed ones', (t) => {
  const read = (value: unknown) => () => decryptPayload(sealed(value), 'job_1', cipher);
  t.throws(read({ version: 2, anything: true }), {
    instanceOf: NewerPayloadError,
    message: 'Expected a payload of version 1, got version 2',
  });
  const right = { version: 1, ...payload };
  t.deepEqual(read({ ...right, later: 1 })(), payload);
  for (const wrong of [
    null,
    'x',
    {},
    payload,
    { ...right, channel: '1' },
    { ...right, version: 0 },
    { ...right, source: {} },
    ...Object.keys(payload).map((field) => ({ ...right, [field]: undefined })),
  ]) {
    t.throws(read(wrong), { instanceOf: PayloadError }, JSON.stringify(wrong));
  }
});

test.serial('a job that a later release queued is left to a worker of that release', async (t) => {
  const { jobs, queues, log, work } = await openJobService(t);
  const url = 'https://bucket.example/a.wav';
  const request = { owner, idempotencyKey: null, digest: '', ...defaultOptions, callback: null };
  await jobs.create('job_1', { ...request, source: { kind: 'object', url } });
  const job = await queues.analyses.queue.getJob('job_1');
  await job?.updateData(sealed({ version: 2 }));
  await work();
  const left = () => log().find(({ msg }) => msg === 'job of a later release left in the queue');
  while (left() === undefined) await sleep(50);
  while ((await job?.getState()) !== 'delayed') await sleep(50);
  t.like(await jobs.find(owner, 'job_1'), { status: 'waiting', errorJson: null });
  t.is((await queues.analyses.queue.getJob('job_1'))?.attemptsMade, 0);
});
