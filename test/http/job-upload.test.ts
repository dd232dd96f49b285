/** Uploads of jobs that are given up: nothing of them is kept any more, whatever the reader still has. */
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { collectJob } from '../../src/http/job-upload.ts';
import { createLifecycle } from '../../src/http/lifecycle.ts';
import { pieceBytes } from '../../src/jobs/waiting.ts';
import { listen } from '../support/listening.ts';
import { contentType, multipart } from '../support/upload.ts';
import { ceilingMs } from '../support/wait.ts';

const audio = { name: 'audio', bytes: Buffer.alloc(pieceBytes) };
const body = multipart([audio, { name: 'baseline', bytes: 'late' }]);

type Options = Omit<Parameters<typeof collectJob>[1], 'deadlineAt'> & { readonly deadlineMs: number };

/** Sends the upload to collectJob. */
async function send(t: ExecutionContext, { deadlineMs, ...options }: Options): Promise<unknown> {
  let tell: (end: unknown) => void = () => {};
  const end = new Promise<unknown>((resolve) => {
    tell = resolve;
  });
  const port = await listen(t, (incoming) => {
    const deadlineAt = performance.now() + deadlineMs;
    collectJob(incoming, { ...options, deadlineAt }).then(tell, tell);
  });
  const headers = { 'Content-Type': contentType };
  const client = request({ port, host: '127.0.0.1', method: 'POST', headers, agent: false });
  client.on('error', () => {});
  client.end(body);
  return end;
}

test('what is left of an upload that was too slow is not kept after it was given up', async (t) => {
  const options = { maxBytes: 2 ** 24, cut: createLifecycle().cut, reserve: () => true };
  const started = performance.now();
  await send(t, { ...options, deadlineMs: ceilingMs, keep: async () => {} });
  const wholeMs = performance.now() - started;

  const kept: string[] = [];
  let goOn = () => {};
  const keep = (part: string, index: number) => {
    kept.push(`${part} ${index}`);
    return new Promise<void>((resolve) => {
      goOn = resolve;
    });
  };
  // The first piece is there long before the time is over, on a busy machine too.
  const deadlineMs = 500 + 20 * wholeMs;
  t.like(await send(t, { ...options, deadlineMs, keep }), { code: 'timeout' });
  t.deepEqual(kept, ['audio 0']);
  goOn();
  await sleep(100);
  t.deepEqual(kept, ['audio 0']);
});

test('an upload whose bytes find no room in the share of its account is refused', async (t) => {
  const reserved: number[] = [];
  const limits = { maxBytes: 2 ** 24, cut: createLifecycle().cut, keep: async () => {} };
  const reserve = (bytes: number) => {
    reserved.push(bytes);
    return reserved.length < 3;
  };
  const end = new Promise((resolve) => {
    void listen(t, (incoming) => {
      const options = { ...limits, deadlineAt: performance.now() + ceilingMs, reserve };
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
