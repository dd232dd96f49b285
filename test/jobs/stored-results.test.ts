/** Reports of hours leave the database for responses and callbacks without being parsed or serialised again. */
import { text } from 'node:stream/consumers';
import test from 'ava';
import { defaultOptions } from '../../src/engine/chunks.ts';
import type { Database } from '../../src/service/database.ts';
import { encryptPayload } from '../../src/service/jobs/payload.ts';
import { startApp, tokens } from '../support/app.ts';
import { call } from '../support/http.ts';
import { openJobService } from '../support/job-service.ts';
import { listen } from '../support/listening.ts';
import { until } from '../support/wait.ts';

const hours = 12;
/** About the size of the report of a recording of hours. */
const report = {
  timeline: Array.from({ length: hours * 900 }, (_, at) => ({ start_s: at, tone: 'é'.repeat(200) })),
};
const reportJson = JSON.stringify(report);
const owner = { key: 'token:1', accountId: null };

async function addDone(database: Database): Promise<void> {
  const row = { id: 'job_done', holder: owner.key, owner: null, idempotency_key: 'k', digest: null };
  const times = { created_at: Date.now() - 1000, finished_at: Date.now(), expires_at: Date.now() + 600_000 };
  await database
    .insertInto('jobs')
    .values({ ...row, ...times, outcome: 'done', body: reportJson })
    .execute();
}

/** Longest text that JSON.parse reads, or JSON.stringify returns, during `work`. */
async function longestJson(work: () => Promise<void>): Promise<number> {
  const { parse, stringify } = JSON;
  let longest = 0;
  const see = (json: unknown) => {
    if (typeof json === 'string') longest = Math.max(longest, json.length);
  };
  Object.assign(JSON, {
    parse: (...given: Parameters<typeof parse>) => {
      see(given[0]);
      return parse(...given);
    },
    stringify: (...given: Parameters<typeof stringify>) => {
      const json = stringify(...given);
      see(json);
      return json;
    },
  });
  try {
    await work();
  } finally {
    Object.assign(JSON, { parse, stringify });
  }
  return longest;
}

const maxJson = 10_000;

test.serial('a response with a stored report neither parses nor serialises it', async (t) => {
  const { database, jobs } = await openJobService(t);
  await addDone(database);
  const { port } = await startApp(t, { jobs });
  const headers = { Authorization: `Bearer ${tokens.full}` };
  let body = '';
  const longest = await longestJson(async () => {
    body = (await call(port, { path: '/v1/jobs/job_done', headers })).body;
  });
  t.true(reportJson.length > 100 * maxJson);
  t.true(longest < maxJson, `${longest} characters`);
  t.like(JSON.parse(body), { id: 'job_done', status: 'done', error: null });
  t.deepEqual(JSON.parse(body).result, report);
});

test.serial('a callback with a stored report neither parses nor serialises it', async (t) => {
  const bodies: string[] = [];
  const port = await listen(t, async (request, response) => {
    bodies.push(await text(request));
    response.writeHead(204).end();
  });
  const callback = `http://127.0.0.1:${port}/`;
  const { cipher, database, queues, work } = await openJobService(t, {
    UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
  });
  await addDone(database);
  const { id: installation } = await database
    .selectFrom('installation')
    .select('id')
    .executeTakeFirstOrThrow();
  const source = { kind: 'object', url: callback } as const;
  const none = { receipt: null, usage: null, metadata: {}, cancelledAt: null };
  const fields = { ...defaultOptions, ...none, source, callback, owner: owner.key, installation };
  const payload = encryptPayload(fields, 'job_done', cipher);
  await work();
  const longest = await longestJson(async () => {
    await queues.callbacks.add({ id: 'job_done', owner: owner.key, payload, createdAt: Date.now() });
    await until(() => bodies.length > 0);
  });
  t.true(longest < maxJson, `${longest} characters`);
  const event = JSON.parse(bodies[0] ?? '');
  t.like(event, { id: 'job_done', status: 'done', type: 'job.done' });
  t.is(event.timestamp, event.finished_at);
  t.deepEqual(event.result, report);
});
