import { readFileSync } from 'node:fs';
import test from 'ava';
import { runCli } from '../support/cli.ts';

for (const command of [
  'serve',
  'worker',
  'bulk',
  'analyze',
  'features',
  'token create',
  'token list',
  'token revoke',
  'user create',
  'user password',
  'doctor',
]) {
  test(`${command} --help has an example`, async (t) => {
    const { code, stdout } = await runCli([...command.split(' '), '--help']);
    t.is(code, 0);
    t.true(stdout.startsWith(`Usage: undertone ${command}`));
    t.regex(stdout, /\nExit codes:\n {2}0 {2}done\n {2}1 /);
    t.regex(stdout, new RegExp(`Examples:\n(.*\n)*.*undertone ${command}`));
  });
}

test('work is an alias of worker', async (t) => {
  const [alias, worker] = await Promise.all(['work', 'worker'].map((name) => runCli([name])));
  t.deepEqual(alias, worker);
  t.regex(String(alias?.stderr), /^Expected redis:\/\/HOST for `UNDERTONE_REDIS_URL`/);
});

test('--version prints the version of the package', async (t) => {
  const { code, stdout } = await runCli(['--version']);
  t.deepEqual([code, stdout.trim()], [0, JSON.parse(readFileSync('package.json', 'utf8')).version]);
});
