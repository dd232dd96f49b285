/** Slow, late and missing bodies, and bodies that are read after a wait. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import {
  type BodyLimits,
  createByteBudget,
  guardBody,
  readBody,
  waitForBody,
} from '../../../src/service/http/body.ts';
import { createLifecycle, type Lifecycle } from '../../../src/service/lifecycle.ts';
import { type Wire, wire } from '../../support/http.ts';
import { listen } from '../../support/listening.ts';
import { ceilingMs } from '../../support/wait.ts';

const everyMs = 200;

type Arrived = {
  readonly client: Wire;
  readonly request: IncomingMessage;
  readonly limits: BodyLimits;
  readonly lifecycle: Lifecycle;
};

/** Sends the headers of a request, and `more`. */
async function send(t: ExecutionContext, lines: readonly string[], more = ''): Promise<Arrived> {
  let port = 0;
  const arrived = new Promise<IncomingMessage>((resolve, reject) => {
    listen(t, resolve).then((taken) => {
      port = taken;
    }, reject);
  });
  while (port === 0) await sleep(1);
  const client = await wire(port);
  t.teardown(() => client.socket.destroy());
  client.socket.write(`${['POST / HTTP/1.1', 'Host: x', ...lines].join('\r\n')}\r\n\r\n${more}`);
  const lifecycle = createLifecycle();
  const deadlineAt = performance.now() + ceilingMs;
  const limits = { deadlineAt, shutdown: lifecycle.shutdown, rate: { bytes: 100, everyMs } };
  return { client, request: await arrived, limits, lifecycle };
}

/** Resolves with the error. */
const failureOf = ({ request, limits }: Arrived) =>
  new Promise<Error>((resolve) => {
    const stop = guardBody(request, limits, (failure) => {
      stop();
      resolve(failure);
    });
  });

test('a body below the minimum rate is ended', async (t) => {
  const arrived = await send(t, ['Content-Length: 5000'], 'x'.repeat(1000));
  arrived.request.resume();
  const failure = await failureOf(arrived);
  t.like(failure, {
    code: 'timeout',
    message: 'Expected at least 100 bytes of the body every 0.2 s, got fewer',
  });
});

test('a body above the minimum rate continues, however long it takes', async (t) => {
  const arrived = await send(t, ['Transfer-Encoding: chunked']);
  arrived.request.resume();
  const until = performance.now() + 6 * everyMs;
  const failed = failureOf(arrived).then(() => 'failed');
  while (performance.now() < until) {
    arrived.client.socket.write(`64\r\n${'x'.repeat(100)}\r\n`);
    await new Promise((next) => setImmediate(next));
  }
  t.is(await Promise.race([failed, 'going on']), 'going on');
});

test('bytes that the service has not read do not count against the client', async (t) => {
  const arrived = await send(t, ['Content-Length: 5000'], 'x'.repeat(1000));
  while (arrived.request.readableLength === 0) await sleep(5);
  const failed = failureOf(arrived);
  t.is(await Promise.race([failed, sleep(4 * everyMs, 'waiting')]), 'waiting');
  arrived.request.resume();
  t.like(await failed, { code: 'timeout' });
});

test('the deadline and the shutdown end a body', async (t) => {
  const late = await send(t, ['Content-Length: 5']);
  const limits = { ...late.limits, deadlineAt: performance.now() + 10 };
  t.like(await failureOf({ ...late, limits }), { message: 'The body did not arrive within the time limit' });
  await t.throwsAsync(waitForBody(late.request, limits), {
    message: 'The body did not arrive within the time limit',
  });
  const cut = await send(t, ['Content-Length: 5']);
  const failed = failureOf(cut);
  const awaited = t.throwsAsync(waitForBody(cut.request, cut.limits), { message: /shutting down/ });
  cut.lifecycle.abort();
  t.like(await failed, { code: 'shutting_down' });
  await awaited;
});

test('an abort before the first byte is detected', async (t) => {
  const arrived = await send(t, ['Content-Length: 5']);
  const waiting = waitForBody(arrived.request, arrived.limits);
  arrived.client.socket.destroy();
  t.false(await waiting);
  t.false(await waitForBody(arrived.request, arrived.limits));
  const options = { ...arrived.limits, maxBytes: 10, budget: createByteBudget(100), account: 'a' };
  t.is(await readBody(arrived.request, options), null);
});

const bodies: Readonly<Record<string, readonly [line: string, early: string, late: string, body: string]>> = {
  'no body': ['X: y', '', '', ''],
  'a length of 0': ['Content-Length: 0', '', '', ''],
  'no chunks': ['Transfer-Encoding: chunked', '0\r\n\r\n', '', ''],
  'no chunks, sent late': ['Transfer-Encoding: chunked', '', '0\r\n\r\n', ''],
  'bytes with the head': ['Content-Length: 5', 'hello', '', 'hello'],
  'some with the head': ['Content-Length: 5', 'he', 'llo', 'hello'],
  'bytes that come late': ['Content-Length: 5', '', 'hello', 'hello'],
  'late chunks': ['Transfer-Encoding: chunked', '', '5\r\nhello\r\n0\r\n\r\n', 'hello'],
};

for (const [name, [line, early, late, body]] of Object.entries(bodies)) {
  test(`a body is complete after waiting for it: ${name}`, async (t) => {
    const { client, request, limits } = await send(t, [line], early);
    let ready = false;
    const waiting = waitForBody(request, limits).then((arrives) => {
      ready = true;
      return arrives;
    });
    const arrivesEarly = late === '' || early !== '';
    if (arrivesEarly) t.true(await waiting);
    else await sleep(20);
    t.is(ready, arrivesEarly);
    client.socket.write(late);
    t.true(await waiting);
    await sleep(20);
    const options = { ...limits, maxBytes: 10, budget: createByteBudget(100), account: 'a' };
    const upload = await readBody(request, options);
    t.is(Buffer.concat(upload?.blocks ?? []).toString(), body);
  });
}
