/** Every failing start of the service: one line with the setting, what was expected, what came and what to do. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import Database from 'libsql';
import { commandLine, runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { copyModels, editManifest } from '../support/models.ts';
import { staticToken } from '../support/server.ts';

const shared = {
  UNDERTONE_PORT: '0',
  UNDERTONE_METRICS_ADDRESS: 'off',
  UNDERTONE_WORKERS: '1',
  UNDERTONE_TOKEN: staticToken,
};
const freshFolder = () => join(makeFolder(), 'data');
const start = (env: Readonly<Record<string, string>>, command = 'serve') =>
  runCli([command], { env: { ...shared, UNDERTONE_DATA_DIR: freshFolder(), ...env } });

/** A folder whose database the service has made. */
async function usedFolder(): Promise<string> {
  const folder = freshFolder();
  await runCli(['token', 'create', '--name', 'a', '--scopes', 'analyze:emotion'], {
    env: { UNDERTONE_DATA_DIR: folder },
  });
  return folder;
}

type Failure = readonly [
  what: string,
  env: () => Record<string, string> | Promise<Record<string, string>>,
  line: RegExp,
];

const failures: readonly Failure[] = [
  [
    'a folder of data under /proc',
    () => ({ UNDERTONE_DATA_DIR: '/proc/undertone/data' }),
    /^Expected a folder for `UNDERTONE_DATA_DIR` in which this user can create files, got \/proc\/undertone\/data \(ENOENT: .*\): change its owner, or choose another folder\n$/,
  ],
  [
    'a folder of data that is a file',
    () => ({ UNDERTONE_DATA_DIR: '/etc/hostname' }),
    /^Expected a folder for `UNDERTONE_DATA_DIR` .* got \/etc\/hostname \(EEXIST: .*\): .*\n$/,
  ],
  [
    'models that are missing',
    () => ({ UNDERTONE_MODELS_DIR: '/nowhere' }),
    /^Expected a folder of models, got \/nowhere, which cannot be read \(`UNDERTONE_MODELS_DIR`\)\n$/,
  ],
  [
    'an address of another machine',
    () => ({ UNDERTONE_HOST: '203.0.113.1' }),
    /^Expected an address of this machine for `UNDERTONE_HOST`, got 203\.0\.113\.1 \(EADDRNOTAVAIL\)\n$/,
  ],
  [
    'an address of another machine for metrics',
    () => ({ UNDERTONE_METRICS_ADDRESS: '203.0.113.1:9464' }),
    /^Expected an address of this machine for `UNDERTONE_METRICS_ADDRESS`, got 203\.0\.113\.1 \(EADDRNOTAVAIL\)\n$/,
  ],
  [
    'a database below a folder that cannot be made',
    () => ({ UNDERTONE_DATABASE_URL: 'file:/proc/undertone/a.db' }),
    /^Expected a file that this user can create for `UNDERTONE_DATABASE_URL`, got: ENOENT.*\/proc\/undertone\/a\.db: .*\n$/,
  ],
  [
    'a file that is no database',
    () => {
      const folder = makeFolder();
      fs.writeFileSync(join(folder, 'undertone.db'), 'notes of somebody, longer than a header of SQLite');
      return { UNDERTONE_DATA_DIR: folder };
    },
    /^Expected a SQLite database for `UNDERTONE_DATABASE_URL`, got: file is not a database: \/.*undertone\.db: move the file away, or choose another one\n$/,
  ],
  [
    'a database of a later version',
    async () => {
      const folder = await usedFolder();
      const database = new Database(join(folder, 'undertone.db'));
      database.exec("insert into kysely_migration values ('9999-later', '2100-01-01T00:00:00Z')");
      database.close();
      return { UNDERTONE_DATA_DIR: folder };
    },
    /^Expected a database of this version or of an earlier one for `UNDERTONE_DATABASE_URL`, got: .*9999-later.*: start the later version, or restore a backup\n$/,
  ],
  [
    'a PostgreSQL that is unreachable',
    () => {
      const folder = makeFolder();
      spawnSync(process.execPath, commandLine(['keys', 'create']).slice(1), {
        env: { ...process.env, UNDERTONE_DATA_DIR: folder },
      });
      return {
        UNDERTONE_DATA_DIR: folder,
        UNDERTONE_DATABASE_URL: 'postgres://me:secret-word@127.0.0.1:1/x',
      };
    },
    /^Expected a reachable database for `UNDERTONE_DATABASE_URL`, got: connect ECONNREFUSED 127\.0\.0\.1:1: start it, or correct the URL\n$/,
  ],
];

for (const [what, env, line] of failures) {
  test(`the start fails with one line: ${what}`, async (t) => {
    const { code, stdout, stderr } = await start(await env());
    t.is(code, 1);
    t.is(stdout, '');
    t.regex(stderr, line);
    t.false(stderr.includes('secret-word'));
    t.false(stderr.includes(staticToken));
  });
}

test('the start fails with one line: a port in use', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.teardown(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { code, stderr } = await start({ UNDERTONE_PORT: String(port) });
  t.is(code, 1);
  t.regex(
    stderr,
    new RegExp(`^Expected a free port for \`UNDERTONE_PORT\`, got 127.0.0.1:${port} in use .*: stop it.*\n$`),
  );
});

for (const [what, change, line] of [
  [
    'other features',
    { featuresVersion: 2 },
    /^Model emotion: Expected 1 for `featuresVersion`, got 2 \(`UNDERTONE_MODELS_DIR`\)\n$/,
  ],
  [
    'an unknown key',
    { later: 1 },
    /^Model emotion: manifest\.json: Unrecognized key: "later": a later version of undertone may have made it \(`UNDERTONE_MODELS_DIR`\)\n$/,
  ],
  [
    'an unknown kind',
    { kind: 'later' },
    /^Model emotion: manifest\.json: .* at kind: a later version of undertone may have made it \(`UNDERTONE_MODELS_DIR`\)\n$/,
  ],
] as const)
  test(`the start fails with one line: models of another version, with ${what}`, async (t) => {
    const models = await copyModels(t);
    await editManifest(models, 'emotion', (manifest) => Object.assign(manifest, change));
    const { code, stderr } = await start({ UNDERTONE_MODELS_DIR: models });
    t.is(code, 1);
    t.regex(stderr, line);
  });

test('the start fails with one line: a locked database', async (t) => {
  const folder = await usedFolder();
  const database = new Database(join(folder, 'undertone.db'));
  t.teardown(() => database.close());
  database.exec('begin exclusive');
  const { code, stderr } = await start({ UNDERTONE_DATA_DIR: folder });
  t.is(code, 1);
  t.regex(
    stderr,
    /^Expected a database that no other process locks for `UNDERTONE_DATABASE_URL`, got: database is locked: .*\n$/,
  );
});

// Mounting needs root.
const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0;

for (const [what, options, line] of [
  [
    'a full disk',
    'size=64k',
    /^Expected a database with free disk space for `UNDERTONE_DATABASE_URL`, got: .*: free some\n$/,
  ],
  [
    'a read-only folder',
    'ro',
    /^Expected a folder for `UNDERTONE_DATA_DIR` in which this user can create files, got .*EROFS.*\n$/,
  ],
] as const) {
  (canMount ? test : test.skip)(`the start fails with one line: ${what}`, async (t) => {
    const folder = makeFolder();
    const script = `mount -t tmpfs -o ${options} tmpfs "$UNDERTONE_DATA_DIR" && exec "$@"`;
    const child = spawn('unshare', ['--mount', 'bash', '-c', script, '-', ...commandLine(['serve'])], {
      env: { ...process.env, ...shared, UNDERTONE_DATA_DIR: folder },
    });
    let output = '';
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    const [code] = await once(child, 'close');
    t.is(code, 1);
    t.regex(output, line);
  });
}

test('a worker prints the same line', async (t) => {
  const env = { UNDERTONE_REDIS_URL: 'redis://127.0.0.1:1', UNDERTONE_DATA_DIR: '/proc/undertone' };
  const { code, stderr } = await start(env, 'worker');
  t.is(code, 1);
  t.regex(
    stderr,
    /^Expected a folder for `UNDERTONE_DATA_DIR` in which this user can create files, got \/proc\/undertone .*\n$/,
  );
});
