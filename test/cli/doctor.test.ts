import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { modelSets } from '../../src/node/paths.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { copyModels, editManifest, editWeights, type Json } from '../support/models.ts';
import { useRedis } from '../support/redis.ts';
import { words } from '../support/words.ts';

type Failure = { emotion: { signals: { valence: number }; warnings: string[] } };

/** State and text by check. */
async function diagnose(env: Readonly<Record<string, string>>) {
  const { code, stdout } = await runCli(['doctor'], { env });
  const lines = stdout.trimEnd().split('\n');
  return {
    code,
    lines: Object.fromEntries(
      lines.map((line) => {
        const [, state, name = '', text] = /^(\w+) +(\w+) +(.+)$/.exec(line) ?? [];
        return [name, `${state}: ${text}`];
      }),
    ),
  };
}

const diagnoseModels = (folder: string) =>
  diagnose({ UNDERTONE_DATA_DIR: join(makeFolder(), 'data'), UNDERTONE_MODELS_DIR: folder });

test('every check of a working installation is ok', async (t) => {
  const redis = await useRedis(t);
  const env = { UNDERTONE_DATA_DIR: join(makeFolder(), 'data'), UNDERTONE_WORKERS: '1' };
  const { code, lines } = await diagnose({ ...env, UNDERTONE_REDIS_URL: redis.url });
  t.is(code, 0, JSON.stringify(lines));
  t.deepEqual(
    Object.keys(lines),
    words`
    settings node addon models compared recordings disk database redis clock limits
  `,
  );
  t.regex(lines.addon ?? '', /^ok: native addon, features version \d+, (1|4|8|16) frames at a time$/);
  t.is(lines.database, 'ok: sqlite, 0 tokens');
  t.is(lines.redis, 'ok: reachable, without persistence');
  t.regex(lines.clock ?? '', /^ok: 20.*Z, [01] s from Redis$/);
});

test('each check fails alone', async (t) => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'file'), '');
  const { code, lines } = await diagnose({
    UNDERTONE_DATA_DIR: join(folder, 'file', 'data'),
    UNDERTONE_DATABASE_URL: `file:${join(folder, 'db')}`,
    UNDERTONE_MODELS_DIR: folder,
    UNDERTONE_COMPARE_MODELS_DIR: folder,
    UNDERTONE_REDIS_URL: join(folder, 'no.sock'),
    UNDERTONE_WORKERS: '1000',
  });
  t.is(code, 1);
  for (const name of ['models', 'compared', 'disk', 'redis', 'clock'])
    t.regex(lines[name] ?? '', /^failed: /, name);
  for (const name of ['addon', 'database']) t.regex(lines[name] ?? '', /^ok: /, name);
  t.regex(lines.limits ?? '', /^warning: .*1000 workers on \d+ cores/);
});

for (const set of modelSets) {
  test(`the shipped models pass: ${set}`, async (t) => {
    const { code, lines } = await diagnoseModels(`models/${set}`);
    t.is(code, 0, JSON.stringify(lines));
    t.regex(
      lines.models ?? '',
      /models\/\w+: cognitive \d+\.\d+\.\d+, emotion .*, outputs as in golden\.json$/,
    );
    t.regex(
      lines.recordings ?? '',
      /^ok: 4 analysed, scores (identical to|within 0\.002 of) failures\.json$/,
    );
  });
}

test('weights of another hash fail', async (t) => {
  const folder = await copyModels(t);
  await editWeights(folder, 'emotion', (weights) => weights.fill(0, 100, 101));
  const { code, lines } = await diagnoseModels(folder);
  t.is(code, 1);
  t.regex(lines.models ?? '', /^failed: Model emotion: .*sha256/i);
});

test('a model that differs from its golden fails', async (t) => {
  const folder = await copyModels(t);
  for (const name of ['vad', 'trunk'])
    await editManifest(folder, name, (manifest) => {
      (manifest.features as Json).melScale = 'htk';
    });
  rmSync(join(folder, 'failures.json'));
  const { code, lines } = await diagnoseModels(folder);
  t.is(code, 1);
  t.regex(lines.models ?? '', /^failed: .*: Expected the outputs of golden\.json, got vad \w+\[0\]: /);
  t.is(lines.recordings, 'ok: these models have no failures.json');
});

test('scores of recordings may differ by the tolerance, texts not at all', async (t) => {
  const folder = await copyModels(t);
  const shipped = readFileSync('models/standard/failures.json', 'utf8');
  const check = async (edit: (answers: Record<'words.flac', Failure>) => void) => {
    const answers = JSON.parse(shipped);
    edit(answers);
    writeFileSync(join(folder, 'failures.json'), JSON.stringify(answers));
    const { code, lines } = await diagnoseModels(folder);
    return [code, lines.recordings];
  };
  const addToValence = (added: number) =>
    check(({ 'words.flac': { emotion } }) => {
      emotion.signals.valence += added;
    });
  const expected = 'failed: Expected the scores of failures.json, got others: words.flac.emotion';
  t.deepEqual(await addToValence(0.0019), [0, 'ok: 4 analysed, scores within 0.002 of failures.json']);
  t.deepEqual(await addToValence(0.0021), [1, `${expected}.signals.valence by 0.0021`]);
  const warned = await check(({ 'words.flac': { emotion } }) => emotion.warnings.push('low_confidence'));
  const { length } = JSON.parse(shipped)['words.flac'].emotion.warnings;
  t.deepEqual(warned, [1, `${expected}.warnings.${length}`]);
});

test('every wrong setting has a line', async (t) => {
  const { code, lines } = await diagnose({ UNDERTONE_PROT: '1' });
  t.is(code, 1);
  t.deepEqual(lines, {
    settings: 'failed: Expected a known setting, got `UNDERTONE_PROT`; did you mean UNDERTONE_PORT?',
  });
});

test('--speed prints what one core of this machine handles', async (t) => {
  const { code, stdout, stderr } = await runCli(['doctor', '--speed', '3'], {
    env: { UNDERTONE_WORKERS: '2', UNDERTONE_MODELS_DIR: 'models/fast' },
  });
  t.is(code, 0, stderr);
  const line = (name: string) => stdout.split('\n').find((one) => one.startsWith(name)) ?? '';
  t.regex(line('machine'), /^machine +\d+ cores of .+, Node\.js \d+/);
  const [, hours, perSecond] = /(\d+) hours per core and hour: ([\d.]+) requests/.exec(line('audio')) ?? [];
  const cores = Number(/(\d+) cores/.exec(line('machine'))?.[1]);
  t.true(Math.abs(Number(hours) - (10 * Number(perSecond)) / cores) <= 1, stdout);
  t.regex(
    line('requests'),
    /(per second and core within 100 ms|none within 100 ms): p50 \d+ ms, p99 \d+ ms of \d+/,
  );
  t.regex(line('sessions'), /\d+ live sessions per core: p99 of their measurements is \d+ ms/);
  t.regex(
    line('memory'),
    /\d+ MiB with 2 workers, each worker after the first adds -?\d+ MiB; \d+ MiB after/,
  );
  t.regex(line('bound by'), /keeps \d+ % of the cores busy/);
});

test('--speed expects seconds', async (t) => {
  const { code, stderr } = await runCli(['doctor', '--speed', 'fast']);
  t.is(code, 2);
  t.is(stderr, 'Expected 1 to 3600 seconds for `--speed`, got "fast"\n');
});
