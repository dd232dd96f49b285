import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { outputOf, startCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';

type Service = { child: ChildProcess; output: () => string };

/** Resolves when standard output has as many lines as expected. */
async function start(
  t: ExecutionContext,
  args: string[],
  lines: number,
  env: Readonly<Record<string, string>>,
): Promise<Service> {
  const child = startCli(['serve', ...args], {
    env: { UNDERTONE_PORT: '0', UNDERTONE_WORKERS: '1', UNDERTONE_SHUTDOWN_S: '2', ...env },
  });
  t.teardown(() => child.kill('SIGKILL'));
  const { stdout, stderr } = outputOf(child);
  while (stdout().split('\n').length <= lines && child.exitCode === null) await sleep(20);
  t.is(child.exitCode, null, stderr());
  return { child, output: stdout };
}

async function stop({ child }: Service): Promise<number | null> {
  child.kill('SIGTERM');
  return (await once(child, 'close'))[0];
}

test('--welcome creates a first token once, and its curl line works as printed', async (t) => {
  const env = { UNDERTONE_DATA_DIR: join(makeFolder(), 'data') };
  const first = await start(t, ['--welcome'], 3, env);
  const [listening, token, line] = first.output().split('\n') as [string, string, string];
  t.regex(listening, /^listening on http:\/\/127\.0\.0\.1:\d+$/);
  t.regex(token, /^your first token, shown this once: ut_\w{46}$/);
  t.true(line.startsWith('curl '));
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], {
    encoding: 'utf8',
  });
  t.is(status, 0, stderr);
  const answer = JSON.parse(stdout);
  t.deepEqual([answer.status, answer.emotion?.status, answer.cognitive?.status], ['ok', 'ok', 'ok'], stdout);
  t.is(await stop(first), 0);

  const second = await start(t, ['--welcome'], 2, env);
  const hint = 'npx undertone token create --name NAME --scopes analyze:emotion,analyze:cognitive';
  t.is(second.output().split('\n')[1], `another token: ${hint}`);
  t.false(second.output().includes('ut_'));
  await stop(second);
});

test('no token is created without --welcome or with UNDERTONE_TOKEN', async (t) => {
  const env = { UNDERTONE_DATA_DIR: join(makeFolder(), 'data') };
  const plain = await start(t, [], 1, env);
  await stop(plain);
  t.regex(plain.output(), /^listening on \S+\n$/);
  const settled = await start(t, ['--welcome'], 2, { ...env, UNDERTONE_TOKEN: 'a-token-of-the-settings' });
  t.false(settled.output().includes('ut_'));
  t.false(settled.output().includes('a-token'));
  await stop(settled);
  const fresh = await start(t, ['--welcome'], 3, env);
  t.true(fresh.output().includes('your first token'), 'no token was made before');
  await stop(fresh);
});
