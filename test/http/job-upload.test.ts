/** Uploads of jobs that are given up: nothing of them is kept any more, whatever the reader still has. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { collectJob } from '../../src/http/job-upload.ts';
import { createLifecycle } from '../../src/http/lifecycle.ts';
import { pieceBytes } from '../../src/jobs/waiting.ts';
import { contentType, multipart } from '../support/upload.ts';

test('what is left of an upload that was too slow is not kept after it was given up', async (t) => {
  const kept: string[] = [];
  let goOn = () => {};
  const collected = new Promise<unknown>((done) => {
    const server = createServer((incoming) => {
      const options = { maxBytes: 2 ** 24, deadlineMs: 500, cut: createLifecycle().cut };
      const keep = (part: string, index: number) => {
        kept.push(`${part} ${index}`);
        return new Promise<void>((resolve) => {
          goOn = resolve;
        });
      };
      collectJob(incoming, { ...options, keep }).catch(done);
    });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const headers = { 'Content-Type': contentType };
      const client = request({ port, host: '127.0.0.1', method: 'POST', headers, agent: false });
      client.on('error', () => {});
      client.end(
        multipart([
          { name: 'audio', bytes: Buffer.alloc(pieceBytes) },
          { name: 'baseline', bytes: 'late' },
        ]),
      );
      t.teardown(() => {
        client.destroy();
        server.close();
      });
    });
  });
  t.like(await collected, { code: 'timeout' });
  t.deepEqual(kept, ['audio 0']);
  goOn();
  await sleep(100);
  t.deepEqual(kept, ['audio 0']);
});
