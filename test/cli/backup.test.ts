/** The commands of docs/operations.md that back up and restore the data folder. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { makeToken, startServer } from '../support/server.ts';

const documented = readFileSync('docs/operations.md', 'utf8').match(/^tar -C .*$/gm) ?? [];

test('a restored data folder has the accounts, tokens and the secret', async (t) => {
  const [backUp = '', restore = ''] = documented;
  const server = await startServer(t, { UNDERTONE_SHUTDOWN_S: '2' });
  const env = { UNDERTONE_DATA_DIR: server.dataDir };
  const input = 'correct horse battery\n';
  await runCli(['user', 'create', '--email', 'ada@home.example'], { env, input });
  const token = makeToken(server, 'analyze:emotion', 'kept');
  await server.stop();

  const folder = makeFolder();
  const restored = join(folder, 'restored');
  mkdirSync(restored);
  const run = (command: string, dataDir: string) =>
    execFileSync('sh', ['-c', command.replace('/var/lib/undertone', dataDir)], { cwd: folder });
  run(backUp, server.dataDir);
  run(restore, restored);

  const settings = { UNDERTONE_DATA_DIR: restored, UNDERTONE_WORKERS: '1', UNDERTONE_SHUTDOWN_S: '2' };
  t.is(readFileSync(join(restored, 'secret'), 'utf8'), readFileSync(join(server.dataDir, 'secret'), 'utf8'));
  const again = await startServer(t, settings);
  const headers = { Authorization: `Bearer ${token}` };
  t.is((await fetch(`${again.url}/v1/usage`, { headers })).status, 200);
  const taken = await runCli(['user', 'create', '--email', 'ada@home.example'], { env: settings, input });
  t.is(taken.code, 2, taken.stderr);
  await again.stop();
});
