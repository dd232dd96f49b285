import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import test from 'ava';
import { ConfigError, defaultMetricsAddress, parseConfig } from '../../src/service/config.ts';

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    parseConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
  }
  throw new Error('Expected a ConfigError, got none');
}

test('by default only this machine connects, one account signs up, and no other host is contacted', (t) => {
  const config = parseConfig({ PATH: '/bin', HOME: '/root' });
  t.like(config, {
    host: '127.0.0.1',
    databaseUrl: `file:${resolve('data', 'undertone.db')}`,
    token: null,
    trustedProxies: 0,
    signUp: 'first',
    corsOrigins: [],
    queue: 8 * availableParallelism(),
    redisUrl: null,
  });
  t.deepEqual([config.jobs.urlPrefixes, config.jobs.privateHosts], [[], []]);
  t.true(Object.isFrozen(config) && Object.isFrozen(config.limits));
});

test('URLs and hosts are normalised', (t) => {
  const config = parseConfig({
    UNDERTONE_PUBLIC_URL: 'https://Voice.example/',
    UNDERTONE_CORS_ORIGINS: 'https://App.example, http://127.0.0.1:5173',
    UNDERTONE_METRICS_ADDRESS: '[::1]:9090',
    UNDERTONE_JOB_URL_PREFIXES: 'https://Bucket.example/a/, http://10.0.0.1:9000/',
    UNDERTONE_JOB_PRIVATE_HOSTS: 'Minio.internal,10.0.0.1,fd00::1',
  });
  t.is(config.publicUrl, 'https://voice.example');
  t.deepEqual(config.corsOrigins, ['https://app.example', 'http://127.0.0.1:5173']);
  t.deepEqual(config.metricsAddress, { host: '::1', port: 9090 });
  t.deepEqual(config.jobs.urlPrefixes, ['https://bucket.example/a/', 'http://10.0.0.1:9000/']);
  t.deepEqual(config.jobs.privateHosts, ['minio.internal', '10.0.0.1', '[fd00::1]']);
});

test('the time for uploads of jobs grows with their size', (t) => {
  const secondsOf = (bytes: number) =>
    parseConfig({ UNDERTONE_JOB_MAX_BYTES: String(bytes) }).jobs.uploadSeconds;
  t.deepEqual([1, 2 ** 29, 2 ** 31].map(secondsOf), [600, 600, 2400]);
});

test('metrics have their own address by default', (t) => {
  const addressOf = (env: Record<string, string>) => parseConfig(env).metricsAddress;
  t.is(addressOf({}), defaultMetricsAddress);
  t.deepEqual(defaultMetricsAddress, { host: '127.0.0.1', port: 9464 });
  for (const word of ['public', 'off'] as const) t.is(addressOf({ UNDERTONE_METRICS_ADDRESS: word }), word);
});

test('an unknown setting comes with the known one that it resembles', (t) => {
  t.deepEqual(
    [...faultsOf({ UNDERTONE_PROT: '1', UNDERTONE_MAX_UPLOAD: '1', UNDERTONE_BANANAS: '1' })],
    [
      'Expected a known setting, got `UNDERTONE_BANANAS`',
      'Expected a known setting, got `UNDERTONE_MAX_UPLOAD`; did you mean UNDERTONE_MAX_UPLOAD_BYTES?',
      'Expected a known setting, got `UNDERTONE_PROT`; did you mean UNDERTONE_PORT?',
    ],
  );
});

test('all problems are reported at once', (t) => {
  const faults = faultsOf({
    UNDERTONE_PORT: '70000',
    UNDERTONE_HOST: '',
    UNDERTONE_WORKERS: 'many',
    UNDERTONE_MAX_SECONDS: '-1',
    UNDERTONE_DATABASE_URL: 'mysql://x',
    UNDERTONE_PUBLIC_URL: 'https://voice.example/path',
    UNDERTONE_TRUST_PROXY: 'yes',
    UNDERTONE_SIGNUP: 'no',
    UNDERTONE_EMBEDDINGS: 'yes',
    UNDERTONE_CORS_ORIGINS: 'https://app.example,*',
    UNDERTONE_RATE_LIMIT: '600',
    UNDERTONE_ADDRESS_RATE_LIMIT: '1/86401',
    UNDERTONE_LOG_LEVEL: 'loud',
    UNDERTONE_METRICS_ADDRESS: 'localhost',
    UNDERTONE_COLOUR: 'blue',
  });
  t.deepEqual([...faults].sort(), [
    'Expected HOST:PORT, public or off for `UNDERTONE_METRICS_ADDRESS`, got "localhost"',
    'Expected REQUESTS/SECONDS, of up to 86400 s for `UNDERTONE_ADDRESS_RATE_LIMIT`, got "1/86401"',
    'Expected REQUESTS/SECONDS, of up to 86400 s for `UNDERTONE_RATE_LIMIT`, got "600"',
    'Expected a host name or address for `UNDERTONE_HOST`, got ""',
    'Expected a known setting, got `UNDERTONE_COLOUR`',
    'Expected an integer from 0 to 10 for `UNDERTONE_TRUST_PROXY`, got "yes"',
    'Expected an integer from 0 to 65535 for `UNDERTONE_PORT`, got "70000"',
    'Expected an integer from 1 to 1024 for `UNDERTONE_WORKERS`, got "many"',
    'Expected file:PATH or postgres://USER@HOST/DATABASE for `UNDERTONE_DATABASE_URL`, got mysql:',
    'Expected first, open or closed for `UNDERTONE_SIGNUP`, got "no"',
    'Expected https://HOST without a path, since pages and cookies have no prefix for `UNDERTONE_PUBLIC_URL`, got "https://voice.example/path"',
    'Expected https://HOST[,https://HOST...] for `UNDERTONE_CORS_ORIGINS`, got "https://app.example,*"',
    'Expected on or off for `UNDERTONE_EMBEDDINGS`, got "yes"',
    'Expected one of fatal, error, warn, info, debug, trace, silent for `UNDERTONE_LOG_LEVEL`, got "loud"',
    'Expected seconds above 0 and up to 86400 for `UNDERTONE_MAX_SECONDS`, got "-1"',
  ]);
});

const day = 86_400;
const bounds = {
  UNDERTONE_TRUST_PROXY: [0, 10],
  UNDERTONE_QUEUE: [0, 100_000],
  UNDERTONE_JOB_WORKERS: [0, 1024],
  UNDERTONE_JOB_BUFFER_BYTES: [1, 2 ** 41],
  UNDERTONE_JOB_MAX_BYTES: [1, 2 ** 31],
  UNDERTONE_JOB_QUEUE: [1, 10_000_000],
  UNDERTONE_JOB_AUDIO_S: [1, 30 * day],
  UNDERTONE_JOB_RESULT_S: [1, 365 * day],
} as const;

test('a number may be each of its bounds, and nothing beyond', (t) => {
  for (const [name, [least, most]] of Object.entries(bounds)) {
    for (const bound of [least, most]) t.notThrows(() => parseConfig({ [name]: String(bound) }), name);
    for (const beyond of [least - 1, most + 1])
      t.deepEqual(faultsOf({ [name]: String(beyond) }), [
        `Expected an integer from ${least} to ${most} for \`${name}\`, got "${beyond}"`,
      ]);
  }
});

test('a token is never repeated', (t) => {
  for (const token of ['short', 'white space in the token', `${'x'.repeat(513)}`]) {
    t.deepEqual(faultsOf({ UNDERTONE_TOKEN: token }), [
      `Expected 20 to 512 characters of a Bearer token for \`UNDERTONE_TOKEN\`, got ${token.length} characters`,
    ]);
  }
});

test('a secret is never repeated', (t) => {
  t.deepEqual(faultsOf({ UNDERTONE_SECRET: 'too-short' }), [
    'Expected at least 32 random characters for `UNDERTONE_SECRET`, got 9 characters',
  ]);
});

test('errors show only the scheme of a database URL, which may contain a password', (t) => {
  const got = (url: string) => faultsOf({ UNDERTONE_DATABASE_URL: url })[0]?.split(', got ')[1];
  t.is(got('mysql://user:secret@host/name'), 'mysql:');
  t.is(got('//user:secret@host/name'), 'no scheme');
  t.is(got('file:'), 'file:');
});

test('URL prefixes end in a slash, and private hosts are host names', (t) => {
  const expected =
    'Expected https://HOST/PATH/[,https://HOST/PATH/...] for `UNDERTONE_JOB_URL_PREFIXES`, got ';
  const prefixes = ['https://bucket.example/a', 'ftp://x/', 'https://u:p@x/', 'https://x/?a/', 'x', ''];
  for (const prefix of [...prefixes, 'https://x/a%2fb/', 'https://x/a%5C/', 'https://x/%2561/']) {
    t.deepEqual(faultsOf({ UNDERTONE_JOB_URL_PREFIXES: prefix }), [expected + JSON.stringify(prefix)]);
  }
  for (const host of ['http://x', 'a/b', 'a:80', '']) {
    t.deepEqual(faultsOf({ UNDERTONE_JOB_PRIVATE_HOSTS: host }), [
      `Expected HOST[,HOST...] for \`UNDERTONE_JOB_PRIVATE_HOSTS\`, got ${JSON.stringify(host)}`,
    ]);
  }
  t.deepEqual(faultsOf({ UNDERTONE_REDIS_URL: 'http://user:secret@host' }), [
    'Expected redis://HOST or the path of a socket for `UNDERTONE_REDIS_URL`, got http:',
  ]);
});

test('the byte budget allows at least one body', (t) => {
  t.deepEqual(faultsOf({ UNDERTONE_BUFFER_BYTES: '14', UNDERTONE_MAX_UPLOAD_BYTES: '11' }), [
    'Expected at least 4/3 of UNDERTONE_MAX_UPLOAD_BYTES (15) for `UNDERTONE_BUFFER_BYTES`, got 14',
  ]);
});
