import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../../benchmarks/peers/stack.ts';
import { clientVenv } from '../../scripts/client-venv.ts';
import { buildPython, clients, pythonTypes } from '../../scripts/clients.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { startJobStack } from '../support/jobs.ts';
import { runPython } from '../support/python-client.ts';
import { startScriptedServer } from '../support/scripted-server.ts';
import { type Server, startServer } from '../support/server.ts';
import { share } from '../support/share.ts';

const shared = share(test, startServer);
const body = { detail: 'busy', code: 'overloaded', request_id: 'id-1' };
const later = { 'Retry-After': '3' };
/** A report of a later service. */
const newer = { status: 200, body: { warnings: ['of_a_later_release'] } };

/** Runs a file of tests. */
async function runTests(
  t: ExecutionContext,
  file: string,
  server: Server,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const service = { UNDERTONE_URL: server.url, UNDERTONE_TOKEN: server.token };
  const output = await runPython(file, { ...service, SAMPLE: resolve('examples/sample.wav'), ...env });
  t.regex(output, /Ran \d+ tests/);
}

test.serial('the package installs, and both clients behave as documented', async (t) => {
  const server = shared();
  const busy = await startScriptedServer(t, [{ status: 500 }, { status: 503, body, headers: later }]);
  const refusing = await Promise.all(
    [401, 403, 422, 429].map((status) => startScriptedServer(t, [{ status, body }])),
  );
  const slow = await startScriptedServer(t, [{ status: 200, ms: 600_000 }]);
  const [sync, async] = await Promise.all(
    [1, 2].map(() => startScriptedServer(t, [{ status: null }, { status: 502 }, newer])),
  );
  const lost = { sync: sync?.url, async: async?.url };
  const gone = { status: 404, body: { code: 'not_found', detail: 'No such job' } };
  const cancelled = await Promise.all([1, 2].map(() => startScriptedServer(t, [{ status: null }, gone])));
  const cancels = { sync: cancelled[0]?.url, async: cancelled[1]?.url };
  const servers = { lost, cancels, busy: busy.url, refusing: refusing.map(({ url }) => url), slow: slow.url };
  await runTests(t, 'client_test.py', server, { SERVERS: JSON.stringify(servers) });
  for (const { lengths } of refusing) t.is(lengths.length, 2);
  t.is(busy.lengths.length, 8);
});

test.serial('live sessions behave as documented', async (t) => {
  const server = await startServer(t, { UNDERTONE_STREAM_IDLE_S: '8' });
  await runTests(t, 'stream_test.py', server);
});

test.serial('jobs and callbacks behave as documented', async (t) => {
  const port = await freePort();
  const { server, startWorker } = await startJobStack(t, {
    UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
    UNDERTONE_JOB_URL_PREFIXES: `http://127.0.0.1:${port}/`,
    UNDERTONE_MAX_SECONDS: '60',
  });
  await startWorker();
  await runTests(t, 'jobs_test.py', server, { HOOK_PORT: String(port) });
});

test.serial('data frames have the columns of the command', async (t) => {
  const server = shared();
  const tables = makeFolder();
  const segments = join(tables, 'segments.json');
  writeFileSync(
    segments,
    JSON.stringify([
      { start: 0, end: 4, speaker: 'A' },
      { start: 8, end: 20, speaker: 'B' },
    ]),
  );
  for (const [name, ...options] of [
    ['file', '--wide'],
    ['utterance', '--by', 'utterance'],
    ['speakers', '--wide', '--segments', segments],
    ['speakers-utterance', '--by', 'utterance', '--segments', segments],
  ] as const) {
    const args = ['analyze', '--output', 'csv', ...options, 'examples/sample.wav'];
    writeFileSync(join(tables, `${name}.csv`), (await runCli(args)).stdout);
  }
  await runTests(t, 'frames_test.py', server, { TABLES: tables });
});

test.serial('the types are correct, and those generated from the document are current', (t) => {
  const mypy = spawnSync(
    join(clientVenv(), 'mypy'),
    ['--config-file', join(clients.python, 'pyproject.toml'), join(clients.python, 'src')],
    { encoding: 'utf8' },
  );
  t.is(mypy.status, 0, mypy.stdout);
  const fresh = join(makeFolder(), 'reports.py');
  buildPython(fresh);
  const committed = readFileSync(pythonTypes, 'utf8');
  t.is(committed, readFileSync(fresh, 'utf8'), 'run `npm run clients`');
});
