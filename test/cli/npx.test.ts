/** The service and the worker by the real npx, which ends at SIGTERM without forwarding it. */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { follow } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { sharedReceiptKeys } from '../support/receipt-keys.ts';
import { useRedis } from '../support/redis.ts';

const settings = {
  UNDERTONE_PORT: '0',
  UNDERTONE_WORKERS: '1',
  UNDERTONE_METRICS_ADDRESS: 'off',
  UNDERTONE_GRACE_S: '0.1',
};

function startByNpx(t: ExecutionContext, command: string, env: Readonly<Record<string, string>>) {
  const folder = makeFolder();
  fs.mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  fs.symlinkSync(resolve('dist/src/cli.js'), join(folder, 'node_modules/.bin/undertone'));
  fs.writeFileSync(join(folder, 'package.json'), '{"name":"installed"}');
  const child = spawn('npx', ['--no-install', 'undertone', command], {
    cwd: folder,
    env: { ...process.env, ...settings, UNDERTONE_DATA_DIR: join(folder, 'data'), ...env },
    detached: true,
  });
  t.teardown(() => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL');
    } catch {
      // All processes of the group have ended.
    }
  });
  return follow(t, child);
}

test('the service stops gracefully when npx ends', async (t) => {
  const service = startByNpx(t, 'serve', {});
  await service.printed(/^listening on \S+\n/m);
  // Resolves when the last process has closed the output.
  await service.stop();
  t.regex(service.stderr(), /"signal":"SIGTERM","msg":"stopping"/);
});

test('the worker stops gracefully when npx ends', async (t) => {
  const { url } = await useRedis(t);
  const keys = await sharedReceiptKeys();
  const worker = startByNpx(t, 'worker', { UNDERTONE_REDIS_URL: url, ...keys });
  await worker.printed(/^working with 1 threads\n/m);
  await worker.stop();
  t.regex(worker.stderr(), /"signal":"SIGTERM","msg":"stopping"/);
});
