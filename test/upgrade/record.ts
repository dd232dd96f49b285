/**
 * Writes test/upgrade/VERSION, what this version stores, for the tests of later ones. Run once for a release:
 *   node --import=tsx test/upgrade/record.ts
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExpectedError, runScript } from '../../scripts/run-script.ts';
import { version } from '../../src/node/paths.ts';
import { parseConfig, settingNames } from '../../src/service/config.ts';
import type { DatabaseKind } from '../../src/service/migrations.ts';
import { reporter } from '../support/analysis.ts';
import { cookieOf, openBrowser, password } from '../support/browser.ts';
import { runCli } from '../support/cli.ts';
import { databaseKinds, makeDatabaseUrl } from '../support/database.ts';
import { createJobClient, jobOf, startWorker } from '../support/jobs.ts';
import { makeCorpus } from '../support/labelled-corpus.ts';
import { exportedFolder, onnxFile, writeDullness } from '../support/onnx-source.ts';
import { useRedis } from '../support/redis.ts';
import { startServer } from '../support/server.ts';
import type { Teardown } from '../support/share.ts';
import {
  adaptedModels,
  addedModels,
  databaseFiles,
  dumpPostgres,
  dumpRedis,
  models,
  partsOf,
  readRecording,
  recordingFile,
  type ServiceRecord,
} from './stores.ts';

/** A value for every setting that differs from its default. */
const settings: Readonly<Record<string, string>> = {
  UNDERTONE_HOST: '0.0.0.0',
  UNDERTONE_PORT: '8443',
  UNDERTONE_DATA_DIR: '/var/lib/undertone',
  UNDERTONE_DATABASE_URL: 'postgres://undertone@db.example/undertone',
  UNDERTONE_TOKEN: 'the-token-of-an-example',
  UNDERTONE_SECRET: 'the secret of an example, 32 characters or more',
  UNDERTONE_PUBLIC_URL: 'https://voice.example',
  UNDERTONE_TRUST_PROXY: '1',
  UNDERTONE_SIGNUP: 'closed',
  UNDERTONE_EMBEDDINGS: 'on',
  UNDERTONE_RECEIPTS: 'always',
  UNDERTONE_RECEIPT_KEYS: '/etc/undertone/receipt-keys.json',
  UNDERTONE_CORS_ORIGINS: 'https://one.example,https://two.example',
  UNDERTONE_RATE_LIMIT: '100/60',
  UNDERTONE_ADDRESS_RATE_LIMIT: '1000/60',
  UNDERTONE_MODELS_DIR: '/var/lib/undertone-models',
  UNDERTONE_COMPARE_MODELS_DIR: '/var/lib/other-models',
  UNDERTONE_WORKERS: '3',
  UNDERTONE_QUEUE: '50',
  UNDERTONE_BUFFER_BYTES: '134217728',
  UNDERTONE_MAX_UPLOAD_BYTES: '10485760',
  UNDERTONE_MAX_SECONDS: '600',
  UNDERTONE_DEADLINE_S: '20.5',
  UNDERTONE_SHUTDOWN_S: '10',
  UNDERTONE_GRACE_S: '2',
  UNDERTONE_LOG_LEVEL: 'warn',
  UNDERTONE_METRICS_ADDRESS: '0.0.0.0:9465',
  UNDERTONE_OTLP_URL: 'http://collector.example:4318/v1/traces',
  UNDERTONE_STREAM_SESSIONS: '40',
  UNDERTONE_STREAM_ACCOUNT_SESSIONS: '4',
  UNDERTONE_STREAM_MAX_SECONDS: '1800',
  UNDERTONE_STREAM_IDLE_S: '30',
  UNDERTONE_STREAM_BUFFER_BYTES: '268435456',
  UNDERTONE_REDIS_URL: 'rediss://redis.example',
  UNDERTONE_JOB_WORKERS: '1',
  UNDERTONE_JOB_BUFFER_BYTES: '268435456',
  UNDERTONE_JOB_MAX_BYTES: '1073741824',
  UNDERTONE_JOB_MAX_SECONDS: '7200',
  UNDERTONE_JOB_QUEUE: '500',
  UNDERTONE_JOB_AUDIO_S: '3600',
  UNDERTONE_JOB_RESULT_S: '7200',
  UNDERTONE_JOB_RESULTS: '500',
  UNDERTONE_JOB_RESULT_BYTES: '268435456',
  UNDERTONE_JOB_URL_PREFIXES: 'https://calls.example/recordings/',
  UNDERTONE_JOB_PRIVATE_HOSTS: 'calls.example,10.0.0.1',
};

/** Stored in telephone quality: the file is small and decodes to the same samples on every machine. */
const recording = 'test/speech/en-us+f2-110.flac';

const writeJson = (path: string, value: unknown) =>
  writeFileSync(path, `${JSON.stringify(value, null, 1)}\n`);

async function cli(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { code, stdout, stderr } = await runCli(args, { env });
  if (code !== 0) throw new ExpectedError(`undertone ${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function recordModels(folder: string): Promise<void> {
  const inside = (name: string) => join(folder, name);
  const [plain, adapted, added] = [inside(models), inside(adaptedModels), inside(addedModels)];
  execFileSync('training/.venv/bin/python', ['test/upgrade/make_models.py', plain], { stdio: 'inherit' });
  execFileSync(process.execPath, ['--import=tsx', 'training/export/golden.ts', plain], { stdio: 'inherit' });
  await cli(['adapt', makeCorpus(330).train, '--models', plain, '--out', adapted]);
  const source = exportedFolder(onnxFile({ write: writeDullness }));
  await cli(['models', 'add', source, '--models', plain, '--out', added]);
  for (const set of [plain, adapted, added])
    writeJson(`${set}.json`, await (await reporter(set))(readRecording(folder)));
}

function recordSettings(folder: string): void {
  const missing = settingNames.filter((name) => !(name in settings));
  if (missing.length > 0) throw new ExpectedError(`Expected every setting, got none for ${missing}`);
  parseConfig(settings);
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, 'undertone.env'), lines.join(''));
}

/** An account with a token, and its jobs. */
async function useService(
  t: Teardown,
  env: Readonly<Record<string, string>>,
  audio: Uint8Array,
): Promise<Omit<ServiceRecord, 'redis'> & { readonly answer: string }> {
  const server = await startServer(t, env);
  const browser = openBrowser(server.port, server.url);
  const email = 'recorded@example.org';
  await browser.signUp(email);
  const scopes = ['analyze:emotion', 'analyze:cognitive'];
  const named = { name: 'recorded', scopes, expires_in_days: null, purpose: 'tests of upgrades' };
  const bearer = String((await browser.ask('tokens', named)).json.token);
  const client = createJobClient({ port: server.port, token: bearer });
  const submit = async (key: string) =>
    jobOf(await client.upload(partsOf(audio, key), { 'Idempotency-Key': key }));
  const answer = (await client.upload(partsOf(audio, null), {}, '/v1/analyze')).body;
  const worker = await startWorker(t, env);
  const done = await client.ended((await submit('first')).id);
  await worker.stop();
  const waiting = jobOf(await client.show((await submit('second')).id));
  const usage = JSON.parse((await client.get('/v1/usage')).body);
  await server.stop();
  if (done.status !== 'done' || waiting.status !== 'waiting')
    throw new ExpectedError(`Expected a job done and one waiting, got ${done.status} and ${waiting.status}`);
  return { email, passphrase: password, cookie: cookieOf(browser), bearer, usage, done, waiting, answer };
}

/** Writes the database, the record in the same folder, and an answer with a receipt. */
async function recordService(t: Teardown, folder: string, kind: DatabaseKind): Promise<void> {
  const data = join(folder, 'service');
  const url = kind === 'sqlite' ? `file:${join(data, databaseFiles.sqlite)}` : await makeDatabaseUrl(kind);
  const redis = await useRedis(t);
  const env = {
    UNDERTONE_DATA_DIR: data,
    UNDERTONE_DATABASE_URL: url,
    UNDERTONE_REDIS_URL: redis.url,
    UNDERTONE_MODELS_DIR: join(folder, models),
    UNDERTONE_SIGNUP: 'open',
    UNDERTONE_JOB_WORKERS: '0',
  };
  if (!existsSync(data)) writeFileSync(join(folder, 'keys.json'), await cli(['keys', 'create'], env));
  const { answer, ...used } = await useService(t, env, readRecording(folder));
  writeFileSync(join(folder, 'answer.json'), answer);
  writeJson(join(folder, `${kind}.json`), { ...used, redis: await dumpRedis(redis.client) });
  if (kind === 'postgres') writeFileSync(join(folder, databaseFiles.postgres), dumpPostgres(url));
  for (const name of ['compiled', 'undertone.db-shm', 'undertone.db-wal', 'undertone.db.lock'])
    rmSync(join(data, name), { recursive: true, force: true });
}

await runScript(async () => {
  const folder = join('test/upgrade', version);
  if (existsSync(folder)) throw new ExpectedError(`Expected a version without a record, got ${folder}`);
  mkdirSync(folder);
  const telephone = ['-ar', '8000', '-c:a', 'pcm_mulaw', '-bitexact'];
  execFileSync('ffmpeg', ['-v', 'error', '-i', recording, ...telephone, join(folder, recordingFile)]);
  const closers: (() => unknown)[] = [];
  try {
    recordSettings(folder);
    await recordModels(folder);
    for (const kind of databaseKinds)
      await recordService({ teardown: (close) => closers.push(close) }, folder, kind);
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  } finally {
    for (const close of closers.reverse()) await close();
  }
});
