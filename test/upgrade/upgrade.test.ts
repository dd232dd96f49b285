/** This version opens what released versions stored: databases, queues, settings, receipts and models. */
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { goldenDifferences } from '../../src/engine/golden.ts';
import { kinds } from '../../src/engine/loader.ts';
import { loadModels, readGolden } from '../../src/node/models.ts';
import { version } from '../../src/node/paths.ts';
import { parseConfig } from '../../src/service/config.ts';
import type { DatabaseKind } from '../../src/service/migrations.ts';
import { readPublicKeys, receiptKeysFile } from '../../src/service/receipt-keys.ts';
import { tolerance } from '../../src/service/verify-receipt.ts';
import { reporter } from '../support/analysis.ts';
import { openBrowser } from '../support/browser.ts';
import { runCli } from '../support/cli.ts';
import { databaseKinds } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { createJobClient, jobOf, startWorker } from '../support/jobs.ts';
import { useRedis } from '../support/redis.ts';
import { startServer } from '../support/server.ts';
import {
  adaptedModels,
  addedModels,
  models,
  partsOf,
  readRecording,
  recordingFile,
  records,
  restoreDatabase,
  restoreRedis,
  type ServiceRecord,
} from './stores.ts';

const [first = ''] = records;

test('this version has a record, and the first release too', (t) => {
  t.true(first.endsWith('/1.0.0'));
  t.true(records.some((record) => record.endsWith(`/${version}`)));
});

/** Fields that follow from the noise, which is measured otherwise since 2.0.0, and how much more they may differ. */
const ofNoise: Readonly<Record<string, number>> = { snr_db: 60, intervals: 0.02, confidence: 0.02 };

/** The largest difference of numbers. Fields that the record does not have are ignored; other text counts as infinite. */
function differenceFrom(recorded: unknown, got: unknown): number {
  if (typeof recorded === 'number' && typeof got === 'number') return Math.abs(recorded - got);
  if (typeof recorded !== 'object' || typeof got !== 'object' || recorded === null || got === null)
    return recorded === got ? 0 : Number.POSITIVE_INFINITY;
  if (Array.isArray(recorded) && recorded.length !== Reflect.get(got, 'length'))
    return Number.POSITIVE_INFINITY;
  const differences = Object.entries(recorded).map(([name, value]) =>
    Math.max(0, differenceFrom(value, Reflect.get(got, name)) - (ofNoise[name] ?? 0)),
  );
  return Math.max(0, ...differences);
}

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

/** The service with the folder of data, the database and the queue of a record. */
async function openRecord(t: ExecutionContext, record: string, kind: DatabaseKind) {
  const known: ServiceRecord = readJson(join(record, `${kind}.json`));
  const dataDir = makeFolder();
  cpSync(join(record, 'service'), dataDir, { recursive: true });
  const redis = await useRedis(t);
  await restoreRedis(redis.client, known.redis);
  const env = {
    UNDERTONE_DATA_DIR: dataDir,
    UNDERTONE_DATABASE_URL: await restoreDatabase(kind, record, dataDir),
    UNDERTONE_REDIS_URL: redis.url,
    UNDERTONE_MODELS_DIR: join(record, models),
    UNDERTONE_JOB_WORKERS: '0',
  };
  return { known, env, server: await startServer(t, env) };
}

for (const record of records)
  for (const kind of databaseKinds) {
    test.serial(`${record}, ${kind}: log-in, token, usage and jobs go on`, async (t) => {
      const { known, env, server } = await openRecord(t, record, kind);
      const { email, passphrase } = known;
      const browser = openBrowser(server.port, server.url);
      const [name = '', value = ''] = known.cookie.split(/=(.*)/s);
      browser.setCookie(name, value);
      t.like((await browser.ask('session')).json, { user: { email, administrator: true } });
      t.like((await browser.ask('log-in', { email, password: passphrase })).json, { user: { email } });
      t.is((await browser.ask('log-in', { email, password: `${passphrase}!` })).status, 401);
      const { json } = await browser.ask('tokens');
      t.like((json.tokens as readonly object[])[0], { name: 'recorded', purpose: 'tests of upgrades' });

      const client = createJobClient({ port: server.port, token: known.bearer });
      const { requests, errors, audio_s } = known.usage.days[0] ?? {};
      // The request that read them was counted after it.
      const counted = { requests: Number(requests) + 1, errors, audio_s };
      t.like(JSON.parse((await client.get('/v1/usage')).body).days, [counted]);
      const analyzed = await client.upload(partsOf(readRecording(record), null), {}, '/v1/analyze');
      t.is(analyzed.status, 200);

      const { result, metadata, finished_at } = known.done;
      t.like(jobOf(await client.show(known.done.id)), {
        status: 'done',
        result,
        metadata,
        finished_at,
      });
      const again = await client.upload(partsOf(readRecording(record), 'second'), {
        'Idempotency-Key': 'second',
      });
      t.like(jobOf(again), { id: known.waiting.id, status: 'waiting', metadata: known.waiting.metadata });
      await startWorker(t, env);
      const taken = jobOf(await client.get(`/v1/jobs/${known.waiting.id}?wait=60`));
      t.like(taken, { status: 'done', created_at: known.waiting.created_at, metadata: { key: 'second' } });
      const { receipt, request_id, ...report } = result ?? {};
      t.true(receipt !== undefined && request_id === known.done.id);
      t.true(differenceFrom(report, taken.result) <= tolerance);
    });
  }

for (const record of records) {
  test(`${record}: every setting is accepted, and has an effect`, (t) => {
    const lines = readFileSync(join(record, 'undertone.env'), 'utf8').trimEnd().split('\n');
    const settings = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)));
    const config = parseConfig(settings);
    t.true(lines.length >= 42);
    for (const name of Object.keys(settings))
      t.notDeepEqual(parseConfig({ ...settings, [name]: undefined }), config, name);
  });

  test(`${record}: the receipt is read with its recorded keys, and what differs since is named`, async (t) => {
    const path = (name: string) => join(record, name);
    const verify = ['verify', path('answer.json'), path(recordingFile), '--keys', path('keys.json')];
    const { code, stdout, stderr } = await runCli([...verify, '--models', path(models)]);
    if (record.endsWith('/1.0.0')) {
      t.is(code, 1, stdout + stderr);
      t.regex(
        stdout,
        /^different: \S+\.intervals\.\S+ differs most, by 0\.0\d+; decoding gives the same samples\n/,
      );
    } else t.is(code, 0, stdout + stderr);
    const keys = await readPublicKeys(path(`service/${receiptKeysFile}`));
    t.deepEqual({ keys }, readJson(path('keys.json')));
  });

  const sets = [models, adaptedModels, addedModels];
  for (const set of sets.filter((name) => existsSync(join(record, name))))
    test(`${record}: the folder ${set} loads, and scores the recording as recorded`, async (t) => {
      const folder = join(record, set);
      const loaded = await loadModels(folder);
      for (const kind of kinds)
        t.deepEqual(await goldenDifferences(loaded, await readGolden(folder, kind), kind), []);
      const report = await (await reporter(folder))(readRecording(record));
      t.true(differenceFrom(readJson(`${folder}.json`), report) <= tolerance);
    });
}
