/** `undertone serve`: the first token, the link of the playground, addresses, the log. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import nodeModule from 'node:module';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createTokens } from '../../src/service/auth/tokens.ts';
import { parseConfig } from '../../src/service/config.ts';
import { openDatabase } from '../../src/service/database.ts';
import { welcomeLink, welcomeToken } from '../../src/tools/welcome.ts';
import { commandLine, follow, runCli, startCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { hasTerminal, runInTerminal } from '../support/terminal.ts';
import { until } from '../support/wait.ts';

/** Resolves when the service listens: all that it prints comes with the first line. */
async function start(t: ExecutionContext, args: string[], env: Record<string, string>) {
  const settings = {
    UNDERTONE_PORT: '0',
    UNDERTONE_WORKERS: '1',
    UNDERTONE_SHUTDOWN_S: '2',
    UNDERTONE_METRICS_ADDRESS: 'off',
    ...env,
  };
  const service = follow(t, startCli(['serve', ...args], { env: settings }));
  await service.printed(/^listening on/);
  return service;
}

test('compiled code is kept in the data folder where Node.js can, and nowhere else', async (t) => {
  const data = join(makeFolder(), 'data');
  const service = await start(t, [], { UNDERTONE_DATA_DIR: data });
  const canKeep = 'enableCompileCache' in nodeModule;
  await until(() => !canKeep || existsSync(join(data, 'compiled')));
  t.is(existsSync(join(data, 'compiled')), canKeep);
  await service.stop();
});

test('--welcome creates a first token once, and its curl line works as printed', async (t) => {
  const env = { UNDERTONE_DATA_DIR: join(makeFolder(), 'data') };
  const first = await start(t, ['--welcome'], env);
  const [listening, token, line] = first.stdout().split('\n') as [string, string, string];
  t.regex(listening, /^listening on http:\/\/127\.0\.0\.1:\d+$/);
  t.regex(token, /^your first token, shown this once: ut_\w{46}$/);
  t.true(line.startsWith('curl '));
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { encoding: 'utf8' });
  t.is(status, 0, stderr);
  const answer = JSON.parse(stdout);
  t.deepEqual([answer.status, answer.emotion?.status, answer.cognitive?.status], ['ok', 'ok', 'ok'], stdout);
  t.deepEqual(await first.stop(), { code: 0, signal: null });

  const second = await start(t, ['--welcome'], env);
  const hint = `UNDERTONE_DATA_DIR='${env.UNDERTONE_DATA_DIR}' npx undertone token create --name NAME --scopes analyze:emotion,analyze:cognitive`;
  t.is(second.stdout().split('\n')[1], `another token: ${hint}`);
  t.false(second.stdout().includes('ut_'));
  await second.stop();
});

test('no token is created without --welcome or with UNDERTONE_TOKEN', async (t) => {
  const env = { UNDERTONE_DATA_DIR: join(makeFolder(), 'data') };
  const plain = await start(t, [], env);
  await plain.stop();
  t.regex(plain.stdout(), /^listening on \S+\n$/);
  const settled = await start(t, ['--welcome'], { ...env, UNDERTONE_TOKEN: 'a-token-of-the-settings' });
  t.false(settled.stdout().includes('ut_'));
  t.false(settled.stdout().includes('a-token'));
  await settled.stop();
  const fresh = await start(t, ['--welcome'], env);
  t.true(fresh.stdout().includes('your first token'), 'no token was made before');
  await fresh.stop();
});

test('--host and --port take precedence over the environment', async (t) => {
  const env = {
    UNDERTONE_DATA_DIR: join(makeFolder(), 'data'),
    UNDERTONE_PORT: '1',
    UNDERTONE_HOST: '192.0.2.1',
  };
  const service = await start(t, ['--port', '0', '--host', '127.0.0.1'], env);
  t.regex(service.stdout(), /^listening on http:\/\/127\.0\.0\.1:\d+\n$/);
  await service.stop();
});

test('another service on the default address of metrics: no metrics; on a chosen one: exit code 1', async (t) => {
  const other = createServer((_request, response) => response.end());
  other.listen(9464, '127.0.0.1');
  // In use by another process does as well.
  await once(other, 'listening').catch(() => {});
  t.teardown(() => other.close());
  const settings = {
    UNDERTONE_PORT: '0',
    UNDERTONE_WORKERS: '1',
    UNDERTONE_DATA_DIR: join(makeFolder(), 'data'),
  };
  const service = follow(t, startCli(['serve'], { env: { ...settings, UNDERTONE_SHUTDOWN_S: '1' } }));
  const [, url = ''] = await service.printed(/^listening on (\S+)\n/);
  t.regex(service.stderr(), /"level":40.*no metrics: another process listens on 127\.0\.0\.1:9464/);
  t.regex(service.stdout(), /^no metrics: .* on 127\.0\.0\.1:9464; set UNDERTONE_METRICS_ADDRESS$/m);
  t.is((await fetch(`${url}/metrics`)).status, 404);
  await service.stop();
  const chosen = { ...settings, UNDERTONE_METRICS_ADDRESS: '127.0.0.1:9464' };
  const refused = await runCli(['serve'], { env: chosen });
  t.is(refused.code, 1);
  t.regex(refused.stderr, /EADDRINUSE/);
});

test('the address of metrics is printed below that of the service', async (t) => {
  const env = { UNDERTONE_DATA_DIR: join(makeFolder(), 'data'), UNDERTONE_METRICS_ADDRESS: '127.0.0.1:0' };
  const service = await start(t, [], env);
  const [, url = ''] = /^metrics on (\S+)$/m.exec(service.stdout()) ?? [];
  t.regex(await (await fetch(url)).text(), /^# HELP undertone_requests_total/m);
  await service.stop();
});

(hasTerminal ? test : test.skip)('on a terminal the log is readable', async (t) => {
  const settings = {
    UNDERTONE_PORT: '0',
    UNDERTONE_WORKERS: '1',
    UNDERTONE_METRICS_ADDRESS: '127.0.0.1:0',
    UNDERTONE_DATA_DIR: join(makeFolder(), 'data'),
    UNDERTONE_SHUTDOWN_S: '1',
  };
  const env = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  const command = `env ${env.join(' ')} ${commandLine(['serve']).join(' ')}`;
  let interrupted = false;
  const { code, rows } = await runInTerminal(command, 110, {
    onData(raw, write) {
      if (interrupted || !raw.includes('listening on')) return;
      interrupted = true;
      write('\x03');
    },
  });
  t.is(code, 0);
  t.regex(rows[0] ?? '', /^\[[\d:.]+\] INFO: metrics \{"url":"http:\/\/127\.0\.0\.1:\d+"\}$/);
  t.regex(rows.at(-1) ?? '', /INFO: stopped$/);
});

const url = 'http://127.0.0.1:8080';
const config = { token: null, dataDir: "/srv/it's", databaseUrl: "file:/srv/it's/undertone.db" };

test('two services that start together create one token', async (t) => {
  const database = await openDatabase(`file:${join(makeFolder(), 'undertone.db')}`);
  const tokens = createTokens({ database, staticToken: null });
  const service = { url, config, tokens };
  const printed = (await Promise.all([welcomeToken(service), welcomeToken(service)])).join('');
  t.is((await tokens.list()).length, 1);
  t.is(printed.match(/shown this once/g)?.length, 1);
  t.is(printed.match(/another token/g)?.length, 1);
});

const linkOf = (env: Readonly<Record<string, string>>) =>
  welcomeLink({
    url,
    config: parseConfig(env),
    playgroundCodes: { create: async () => 'the-code' },
  });

test('the link is printed for a service that only this machine reaches', async (t) => {
  for (const env of [{}, { UNDERTONE_HOST: 'localhost' }, { UNDERTONE_HOST: '::1' }]) {
    t.regex(await linkOf(env), /^playground, signed in .*: http:\/\/127\.0\.0\.1:8080\/#code=the-code\n$/);
  }
});

test('no link is printed where others reach the service', async (t) => {
  for (const env of [
    { UNDERTONE_HOST: '0.0.0.0' },
    { UNDERTONE_HOST: '10.0.0.1' },
    { UNDERTONE_TRUST_PROXY: '1' },
    { UNDERTONE_PUBLIC_URL: 'https://voice.example' },
  ]) {
    t.is(await linkOf(env), '', JSON.stringify(env));
  }
});
