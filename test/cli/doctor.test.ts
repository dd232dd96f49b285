import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { useRedis } from '../support/redis.ts';

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

test('every check of a working installation is ok', async (t) => {
  const redis = await useRedis(t);
  const env = { UNDERTONE_DATA_DIR: join(makeFolder(), 'data'), UNDERTONE_WORKERS: '1' };
  const { code, lines } = await diagnose({ ...env, UNDERTONE_REDIS_URL: redis.url });
  t.is(code, 0, JSON.stringify(lines));
  t.deepEqual(Object.keys(lines), [
    'settings',
    'node',
    'addon',
    'models',
    'disk',
    'database',
    'redis',
    'clock',
    'limits',
  ]);
  t.regex(lines.addon ?? '', /^ok: native addon, features version \d+, (1|4|8|16) frames at a time$/);
  t.regex(lines.models ?? '', /^ok: .*models\/standard: cognitive \d+\.\d+\.\d+, emotion /);
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
    UNDERTONE_REDIS_URL: join(folder, 'no.sock'),
    UNDERTONE_WORKERS: '1000',
  });
  t.is(code, 1);
  for (const name of ['models', 'disk', 'redis', 'clock']) t.regex(lines[name] ?? '', /^failed: /, name);
  for (const name of ['addon', 'database']) t.regex(lines[name] ?? '', /^ok: /, name);
  t.regex(lines.limits ?? '', /^warning: .*1000 workers on \d+ cores/);
});

test('every wrong setting has a line', async (t) => {
  const { code, lines } = await diagnose({ UNDERTONE_PROT: '1' });
  t.is(code, 1);
  t.deepEqual(lines, {
    settings: 'failed: Expected a known setting, got `UNDERTONE_PROT`; did you mean UNDERTONE_PORT?',
  });
});
