/** Concurrent JSON bodies. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import test from 'ava';
import Koa, { type Context } from 'koa';
import { z } from 'zod';
import { createByteBudget } from '../../../src/http/body/byte-budget.ts';
import { checkUrls } from '../../../src/http/body/job-body.ts';
import { createJsonReader } from '../../../src/http/body/json.ts';
import { createLifecycle } from '../../../src/http/lifecycle.ts';
import { parseConfig } from '../../../src/runtime/config.ts';

const app = new Koa();
const rules = { maxBytes: 1000, reasonOf: (kind: string) => kind };

/** A request whose body has arrived. */
function arrived(body: string): Context {
  const request = new IncomingMessage(new Socket());
  request.method = 'POST';
  request.headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
  request.push(body);
  request.push(null);
  const context = app.createContext(request, new ServerResponse(request));
  context.state = { startedAt: performance.now() };
  return context as Context;
}

test.serial('the event loop turns between the parsing of two bodies', async (t) => {
  const config = parseConfig({});
  const budget = createByteBudget(2 ** 20);
  const read = createJsonReader({
    config,
    budget,
    lifecycle: createLifecycle(),
    account: async () => 'account',
  });
  let turn = 0;
  const count = () => {
    turn++;
    counter = setImmediate(count);
  };
  let counter = setImmediate(count);
  const { parse } = JSON;
  t.teardown(() => {
    clearImmediate(counter);
    JSON.parse = parse;
  });
  const parsedIn: number[] = [];
  JSON.parse = (...given) => {
    parsedIn.push(turn);
    return parse(...given);
  };
  const bodies = Array.from({ length: 8 }, (_, index) => arrived(JSON.stringify({ index })));
  const parsed = await Promise.all(
    bodies.map((context) => read(context, z.object({ index: z.int() }), rules)),
  );
  t.deepEqual(
    parsed.map(({ index }) => index),
    [0, 1, 2, 3, 4, 5, 6, 7],
  );
  t.is(parsedIn.length, 8);
  t.is(new Set(parsedIn).size, 8, parsedIn.join());
});

test('a long list of URLs is checked in several turns of the event loop', async (t) => {
  const { jobs } = parseConfig({ UNDERTONE_JOB_URL_PREFIXES: 'https://bucket.example/a/' });
  const list = (count: number) => Array<string>(count).fill('https://bucket.example/a/b.wav');
  const turnsOf = async (count: number) => {
    let turns = 0;
    let done = false;
    const next = () => {
      turns++;
      if (!done) setImmediate(next);
    };
    setImmediate(next);
    await checkUrls(list(count), jobs);
    done = true;
    return turns;
  };
  await turnsOf(1);
  t.true((await turnsOf(1000)) >= 9);
  await t.throwsAsync(checkUrls([...list(500), 'https://bucket.example/b/'], jobs), {
    message: /urls\[500\]/,
  });
});
