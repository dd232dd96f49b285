/** The settings of release 0.1.0, each with another value than its default, under the present version. */
import { resolve } from 'node:path';
import test from 'ava';
import { readManifests } from '../../src/models/loader.ts';
import { parseConfig } from '../../src/runtime/config.ts';

const settings = {
  UNDERTONE_HOST: '0.0.0.0',
  UNDERTONE_PORT: '9090',
  UNDERTONE_DATA_DIR: '/data',
  UNDERTONE_DATABASE_URL: 'postgres://undertone@db/undertone',
  UNDERTONE_TOKEN: 'a-token-of-at-least-20-characters',
  UNDERTONE_SECRET: 'a secret of at least thirty-two characters',
  UNDERTONE_PUBLIC_URL: 'https://undertone.example',
  UNDERTONE_TRUST_PROXY: '1',
  UNDERTONE_SIGNUP: 'open',
  UNDERTONE_CORS_ORIGINS: 'https://app.example',
  UNDERTONE_RATE_LIMIT: '100/60',
  UNDERTONE_ADDRESS_RATE_LIMIT: '100/60',
  UNDERTONE_MODELS_DIR: './models-fast',
  UNDERTONE_WORKERS: '3',
  UNDERTONE_QUEUE: '5',
  UNDERTONE_BUFFER_BYTES: '536870912',
  UNDERTONE_MAX_UPLOAD_BYTES: '1048576',
  UNDERTONE_MAX_SECONDS: '60',
  UNDERTONE_DEADLINE_S: '10',
  UNDERTONE_SHUTDOWN_S: '10',
  UNDERTONE_GRACE_S: '2',
  UNDERTONE_LOG_LEVEL: 'warn',
  UNDERTONE_METRICS_ADDRESS: '127.0.0.1:9100',
  UNDERTONE_REDIS_URL: 'redis://redis',
  UNDERTONE_JOB_MAX_BYTES: '1048576',
  UNDERTONE_JOB_MAX_SECONDS: '3600',
  UNDERTONE_JOB_QUEUE: '100',
  UNDERTONE_JOB_UPLOAD_S: '60',
  UNDERTONE_JOB_AUDIO_S: '3600',
  UNDERTONE_JOB_RESULT_S: '3600',
  UNDERTONE_JOB_URL_PREFIXES: 'https://files.example/audio/',
  UNDERTONE_JOB_PRIVATE_HOSTS: 'files.internal',
};

test('every setting of release 0.1.0 keeps its name and form', async (t) => {
  const { stream, playgroundLink, ...config } = parseConfig(settings);
  const rate = { requests: 100, seconds: 60 };
  t.deepEqual(config, {
    host: '0.0.0.0',
    port: 9090,
    dataDir: '/data',
    databaseUrl: 'postgres://undertone@db/undertone',
    token: 'a-token-of-at-least-20-characters',
    secret: 'a secret of at least thirty-two characters',
    publicUrl: 'https://undertone.example',
    trustedProxies: 1,
    signUp: 'open',
    corsOrigins: ['https://app.example'],
    tokenRate: rate,
    addressRate: rate,
    modelsDir: resolve('models-fast'),
    workers: 3,
    queue: 5,
    bufferBytes: 536_870_912,
    maxUploadBytes: 1_048_576,
    deadlineSeconds: 10,
    shutdownSeconds: 10,
    graceSeconds: 2,
    logLevel: 'warn',
    metricsAddress: { host: '127.0.0.1', port: 9100 },
    otlpUrl: null,
    embeddings: false,
    receipts: 'requested',
    receiptKeys: null,
    limits: { seconds: 60, channels: 8, minSampleRate: 4000, maxSampleRate: 384_000, deadlineSeconds: 10 },
    redisUrl: 'redis://redis',
    jobs: {
      maxBytes: 1_048_576,
      maxSeconds: 3600,
      queue: 100,
      uploadSeconds: 60,
      audioSeconds: 3600,
      resultSeconds: 3600,
      urlPrefixes: ['https://files.example/audio/'],
      privateHosts: ['files.internal'],
    },
  });
  // Settings of later releases have their defaults.
  const defaults = parseConfig({ UNDERTONE_WORKERS: String(config.workers) });
  t.deepEqual(
    { stream, playgroundLink },
    { stream: defaults.stream, playgroundLink: defaults.playgroundLink },
  );
  t.deepEqual(await readManifests(config.modelsDir), await readManifests('models/fast'));
});
