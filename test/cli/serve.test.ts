import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { follow, startCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';

/** Resolves when standard output has as many lines as expected. */
async function start(t: ExecutionContext, args: string[], lines: number, env: Record<string, string>) {
  const settings = { UNDERTONE_PORT: '0', UNDERTONE_WORKERS: '1', UNDERTONE_SHUTDOWN_S: '2', ...env };
  const service = follow(t, startCli(['serve', ...args], { env: settings }));
  await service.printed(new RegExp(`^(.*\\n){${lines}}`));
  return service;
}

test('--welcome creates a first token once, and its curl line works as printed', async (t) => {
  const env = { UNDERTONE_DATA_DIR: join(makeFolder(), 'data') };
  const first = await start(t, ['--welcome'], 3, env);
  const [listening, token, line] = first.stdout().split('\n') as [string, string, string];
  t.regex(listening, /^listening on http:\/\/127\.0\.0\.1:\d+$/);
  t.regex(token, /^your first token, shown this once: ut_\w{46}$/);
  t.true(line.startsWith('curl '));
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { encoding: 'utf8' });
  t.is(status, 0, stderr);
  const answer = JSON.parse(stdout);
  t.deepEqual([answer.status, answer.emotion?.status, answer.cognitive?.status], ['ok', 'ok', 'ok'], stdout);
  t.deepEqual(await first.stop(), { code: 0, signal: null });

  const second = await start(t, ['--welcome'], 2, env);
  const hint = 'npx undertone token create --name NAME --scopes analyze:emotion,analyze:cognitive';
  t.is(second.stdout().split('\n')[1], `another token: ${hint}`);
  t.false(second.stdout().includes('ut_'));
  await second.stop();
});

test('no token is created without --welcome or with UNDERTONE_TOKEN', async (t) => {
  const env = { UNDERTONE_DATA_DIR: join(makeFolder(), 'data') };
  const plain = await start(t, [], 1, env);
  await plain.stop();
  t.regex(plain.stdout(), /^listening on \S+\n$/);
  const settled = await start(t, ['--welcome'], 2, { ...env, UNDERTONE_TOKEN: 'a-token-of-the-settings' });
  t.false(settled.stdout().includes('ut_'));
  t.false(settled.stdout().includes('a-token'));
  await settled.stop();
  const fresh = await start(t, ['--welcome'], 3, env);
  t.true(fresh.stdout().includes('your first token'), 'no token was made before');
  await fresh.stop();
});
