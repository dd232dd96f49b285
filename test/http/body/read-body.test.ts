/** Bodies from a socket are complete, in transferable blocks. */
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { FairBudget } from '../../../src/service/fair-share.ts';
import { createByteBudget, readBody, type Upload } from '../../../src/service/http/body.ts';
import { createLifecycle } from '../../../src/service/lifecycle.ts';
import { listen } from '../../support/listening.ts';
import { ceilingMs } from '../../support/wait.ts';

type Collected = { readonly upload: Upload; readonly budget: FairBudget };

/** Reads a body whose `chunks` are written one by one. */
async function send(t: ExecutionContext, chunks: readonly Uint8Array[]): Promise<Collected> {
  const budget = createByteBudget(2 ** 24);
  const { shutdown } = createLifecycle();
  const options = {
    maxBytes: 2 ** 24,
    budget,
    account: 'a',
    deadlineAt: performance.now() + ceilingMs,
    shutdown,
  };
  const collected = new Promise<Collected>((resolve, reject) => {
    const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
      const upload = await readBody(incoming, options);
      response.end();
      if (upload === null) reject(new Error('the client disconnected'));
      else resolve({ upload, budget });
    };
    listen(t, handle).then((port) => write(port, chunks), reject);
  });
  return collected;
}

async function write(port: number, chunks: readonly Uint8Array[]): Promise<void> {
  const client = request({ port, host: '127.0.0.1', method: 'POST', agent: false });
  client.on('response', (response) => response.resume());
  for (const chunk of chunks) {
    client.write(chunk);
    await sleep(1);
  }
  client.end();
}

const bytes = (length: number) =>
  Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 8)) & 255);

const bodies: Readonly<Record<string, readonly number[]>> = {
  'nothing at all': [],
  'one byte': [1],
  'many short chunks': Array(300).fill(700),
  'long chunks alone': [200_000, 200_000],
  'short chunks around long ones': [10, 100_000, 5, 5, 90_000, 7],
};

for (const [name, lengths] of Object.entries(bodies)) {
  test(`${name}: the sent bytes, in few transferable blocks`, async (t) => {
    const ends = lengths.map((_, index) =>
      lengths.slice(0, index + 1).reduce((sum, length) => sum + length, 0),
    );
    const whole = bytes(ends.at(-1) ?? 0);
    const chunks = ends.map((end, index) => whole.subarray(ends[index - 1] ?? 0, end));
    const { upload, budget } = await send(t, chunks);
    t.deepEqual(Buffer.concat(upload.blocks), Buffer.from(whole));
    t.true(upload.blocks.length <= 2 + whole.length / 16_384, `${upload.blocks.length} blocks`);
    const buffers = new Set(upload.blocks.map(({ buffer }) => buffer));
    t.is(buffers.size, upload.blocks.length);
    t.notThrows(() => structuredClone(upload.blocks, { transfer: [...buffers] as ArrayBuffer[] }));
    t.is(budget.used(), whole.length);
    upload.release();
    upload.release();
    t.is(budget.used(), 0);
  });
}
