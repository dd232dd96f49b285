/** Results of jobs: waits for them, and stored reports of hours. */

import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { defaultOptions } from '../../src/engine/options.ts';
import { type Database, openDatabase } from '../../src/service/database.ts';
import { createJobStore, type JobOwner } from '../../src/service/jobs/job-store.ts';
import { encryptPayload } from '../../src/service/jobs/payload.ts';
import { openStoredResults, type StoredResults } from '../../src/service/jobs/stored-results.ts';
import { createJobWaits } from '../../src/service/jobs/waits.ts';
import { startApp, tokens, untilMetric } from '../support/app.ts';
import { databaseKinds, makeDatabaseUrl } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { call, wire } from '../support/http.ts';
import { openJobService, requestOf } from '../support/job-service.ts';
import { listen } from '../support/listening.ts';
import { until } from '../support/wait.ts';

const owner = { key: 'token:1', accountId: null };
const principal = {
  name: 'full',
  owner: null,
  purpose: null,
  session: null,
  scopes: ['analyze:emotion', 'analyze:cognitive'],
} as const;

async function open(t: ExecutionContext) {
  const { database, jobs } = await openJobService(t);
  const app = await startApp(t, { jobs });
  await jobs.create('job_1', requestOf(owner, 'https://bucket.example/a.wav'));
  const headers = { Authorization: `Bearer ${tokens.full}` };
  const get = async (wait: string) => {
    const { status, body } = await call(app.port, { path: `/v1/jobs/job_1?wait=${wait}`, headers });
    return { http: status, ...JSON.parse(body) };
  };
  return { app, get, jobs, store: createJobStore(database), headers };
}

const waiting = 'undertone_job_waits';

test.serial('a wait ends with the job, whichever process ends it', async (t) => {
  const { app, get, jobs } = await open(t);
  const waits = ['60', '3600'].map(get);
  await untilMetric(app, waiting, 2);
  const now = Date.now();
  await jobs.results.store('job_1', Buffer.from('{"status":"ok"}'), now, now + 600_000);
  for (const job of await Promise.all(waits))
    t.like(job, { http: 200, status: 'done', result: { status: 'ok' } });
  await untilMetric(app, waiting, 0);
  t.like(await get('60'), { status: 'done' });
});

test.serial('a wait ends with a job that is deleted, and after its time with the state', async (t) => {
  const { app, get, store } = await open(t);
  t.like(await get('1'), { http: 200, status: 'waiting' });
  const deleted = get('60');
  await untilMetric(app, waiting, 1);
  await store.delete('job_1');
  t.like(await deleted, { http: 404 });
});

test.serial('a wait ends at the shutdown with the state, and later ones do not begin', async (t) => {
  const { app, get, jobs } = await open(t);
  const waits = get('60');
  await untilMetric(app, waiting, 1);
  jobs.waits.end();
  t.like(await waits, { http: 200, status: 'waiting' });
  t.like(await get('60'), { http: 200, status: 'waiting' });
});

test.serial('a client that closes the connection ends its wait', async (t) => {
  const { app } = await open(t);
  const client = await wire(app.port);
  const head = `GET /v1/jobs/job_1?wait=60 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.full}\r\n\r\n`;
  client.socket.write(head);
  await untilMetric(app, waiting, 1);
  client.socket.destroy();
  await untilMetric(app, waiting, 0);
  t.pass();
});

test.serial('other values are refused', async (t) => {
  const { get } = await open(t);
  for (const wait of ['', 'x', '-1', '1.5', '1&wait=2']) {
    t.like(await get(wait), {
      http: 400,
      detail: 'Expected a whole number of seconds for `wait`, got something else',
    });
  }
});

test('an owner with its share of the waits does not wait, and one query asks about all jobs', async (t) => {
  const asked: number[] = [];
  const store = {
    findOpen: async (ids: readonly string[]) => {
      asked.push(ids.length);
      return [...ids];
    },
  };
  const waits = createJobWaits(store);
  const wait = (by: JobOwner, id: string) => waits.wait(by, id, 60_000, new AbortController().signal);
  const all = Array.from({ length: 600 }, (_, index) => wait(owner, `job_${index}`));
  t.is(waits.count(), 512);
  void wait({ key: 'token:2', accountId: null }, 'job_other');
  t.is(waits.count(), 513);
  while (asked.length === 0) await sleep(20);
  t.is(asked[0], 513);
  waits.end();
  await Promise.all(all);
  t.is(waits.count(), 0);
});

// Reports of hours leave the database for responses and callbacks without being parsed or serialised again.

const hours = 12;
/** About the size of the report of a recording of hours. */
const report = {
  timeline: Array.from({ length: hours * 900 }, (_, at) => ({ start_s: at, tone: 'é'.repeat(200) })),
};
const reportJson = JSON.stringify(report);

async function addDone(
  database: Database,
  results: StoredResults,
  id = 'job_done',
  key = owner.key,
): Promise<void> {
  const [now, expiresAt] = [Date.now(), Date.now() + 600_000];
  const job = { id, owner: { key, accountId: null }, idempotencyKey: null, digest: '', metadata: null };
  await createJobStore(database).insert({ ...job, expiresAt });
  if (!(await results.store(id, Buffer.from(reportJson), now, expiresAt)))
    throw new Error('Expected an open job');
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
  await addDone(database, jobs.results);
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

for (const kind of databaseKinds) {
  test(`a report is stored while the event loop turns, and read in pieces until its job is deleted (${kind})`, async (t) => {
    const url = await makeDatabaseUrl(kind);
    const database = await openDatabase(url);
    const results = openStoredResults(database, url);
    t.teardown(async () => {
      await results.close();
      await database.destroy();
    });
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    await addDone(database, results);
    clearInterval(timer);
    t.false(await results.store('job_done', Buffer.from('{}'), 0, 0));
    t.true(turns > 5, `${turns} turns`);
    // Listing a job does not read its result.
    t.deepEqual(await database.selectFrom('jobs').select('body').execute(), [{ body: null }]);
    const pieces: Uint8Array[] = [];
    const stored = { id: 'job_done', bytes: Buffer.byteLength(reportJson) };
    for await (const piece of results.pieces(stored)) pieces.push(piece);
    t.is(Buffer.concat(pieces).toString(), reportJson);
    t.true(pieces.length > 8 && pieces.every(({ length }) => length <= 131_072));
    const reading = results.pieces(stored);
    await reading.next();
    await database.deleteFrom('jobs').execute();
    await t.throwsAsync(() => reading.next(), { message: 'The database is unavailable' });
  });
}

test('a database that could not be opened is opened again for the next result', async (t) => {
  const folder = makeFolder();
  const url = `file:${join(folder, 'undertone.db')}`;
  const database = await openDatabase(url);
  const results = openStoredResults(database, url);
  t.teardown(async () => {
    await results.close();
    await database.destroy();
  });
  renameSync(folder, `${folder}-away`);
  writeFileSync(folder, '');
  await t.throwsAsync(() => addDone(database, results), { message: 'The database is unavailable' });
  rmSync(folder);
  renameSync(`${folder}-away`, folder);
  await addDone(database, results);
  const [piece] = await database.selectFrom('job_pieces').select('job').execute();
  t.deepEqual(piece, { job: 'job_done' });
});

test.serial('reports that one account does not read leave memory for those of another', async (t) => {
  const { database, jobs } = await openJobService(t);
  await addDone(database, jobs.results);
  await addDone(database, jobs.results, 'job_other', 'token:2');
  const other = 'token-of-another-account';
  const verify = async (token: string) => ({ ...principal, id: token === other ? '2' : '1' });
  const app = await startApp(t, { jobs, verifier: { verify } });
  const get = (id: string, token: string) =>
    call(app.port, { path: `/v1/jobs/${id}`, headers: { Authorization: `Bearer ${token}` } });
  const silent = await Promise.all(Array.from({ length: 64 }, () => wire(app.port)));
  for (const { socket } of silent) {
    socket.pause();
    socket.write(`GET /v1/jobs/job_done HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.full}\r\n\r\n`);
  }
  await untilMetric(app, 'undertone_result_bytes', 12 * 2 ** 20);
  const refused = await get('job_done', tokens.full);
  t.is(refused.status, 503);
  t.like(JSON.parse(refused.body), { code: 'overloaded' });
  t.deepEqual(JSON.parse((await get('job_other', other)).body).result, report);
  for (const { socket } of silent) socket.destroy();
  await untilMetric(app, 'undertone_result_bytes', 0);
});

test.serial('a callback with a stored report neither parses nor serialises it', async (t) => {
  const bodies: string[] = [];
  const port = await listen(t, async (request, response) => {
    bodies.push(await text(request));
    response.writeHead(204).end();
  });
  const callback = `http://127.0.0.1:${port}/`;
  const { cipher, database, jobs, queues, work } = await openJobService(t, {
    UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
  });
  await addDone(database, jobs.results);
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
