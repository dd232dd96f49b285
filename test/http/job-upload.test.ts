/** Uploads of jobs that are given up: nothing of them is kept any more, whatever the reader still has. */
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { collectJob } from '../../src/http/job-upload.ts';
import { createLifecycle } from '../../src/http/lifecycle.ts';
import { pieceBytes } from '../../src/jobs/waiting.ts';
import { listen } from '../support/listening.ts';
import { contentType, multipart } from '../support/upload.ts';

test('what is left of an upload that was too slow is not kept after it was given up', async (t) => {
  const kept: string[] = [];
  let goOn = () => {};
  const keep = (part: string, index: number) => {
    kept.push(`${part} ${index}`);
    return new Promise<void>((resolve) => {
      goOn = resolve;
    });
  };
  let tell: (end: unknown) => void = () => {};
  const end = new Promise<unknown>((resolve) => {
    tell = resolve;
  });
  const digestKey = Buffer.alloc(32);
  const limits = { maxBytes: 2 ** 24, cut: createLifecycle().cut, digestKey, reserve: () => true };
  const port = await listen(t, (incoming) => {
    const options = { ...limits, deadlineAt: performance.now() + 500, keep };
    collectJob(incoming, options).then(tell, tell);
  });
  const headers = { 'Content-Type': contentType };
  const client = request({ port, host: '127.0.0.1', method: 'POST', headers, agent: false });
  client.on('error', () => {});
  const audio = { name: 'audio', bytes: Buffer.alloc(pieceBytes) };
  client.end(multipart([audio, { name: 'baseline', bytes: 'late' }]));
  t.like(await end, { code: 'timeout' });
  t.deepEqual(kept, ['audio 0']);
  goOn();
  await sleep(100);
  t.deepEqual(kept, ['audio 0']);
});

test('an upload whose bytes find no room in the share of its account is refused', async (t) => {
  const reserved: number[] = [];
  const digestKey = Buffer.alloc(32);
  const limits = { maxBytes: 2 ** 24, cut: createLifecycle().cut, digestKey, keep: async () => {} };
  const reserve = (bytes: number) => {
    reserved.push(bytes);
    return reserved.length < 3;
  };
  const end = new Promise((resolve) => {
    void listen(t, (incoming) => {
      const options = { ...limits, deadlineAt: performance.now() + 60_000, reserve };
      collectJob(incoming, options).then(resolve, resolve);
    }).then((port) => {
      const headers = { 'Content-Type': contentType };
      const client = request({ port, host: '127.0.0.1', method: 'POST', headers, agent: false });
      client.on('error', () => {});
      client.end(multipart([{ name: 'audio', bytes: Buffer.alloc(2 ** 21) }]));
    });
  });
  t.like(await end, { code: 'overloaded' });
  t.is(reserved.length, 3);
  t.true(reserved.every((bytes) => bytes > 0));
});
