/** Accounts of the built service as a process. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { openDatabase } from '../../../src/service/database.ts';
import { databaseKinds, makeDatabaseUrl } from '../../support/database.ts';
import { makeFolder } from '../../support/folder.ts';
import { sharedReceiptKeys } from '../../support/receipt-keys.ts';
import { startServer } from '../../support/server.ts';

const credentials = { email: 'ada@home.example', password: 'correct horse battery' };

async function post(url: string, path: string, body: object, cookie = '') {
  const headers = { Origin: url, 'Content-Type': 'application/json', Cookie: cookie };
  const response = await fetch(`${url}/account/api/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const json = (await response.json()) as Readonly<Record<string, unknown>>;
  return { status: response.status, json, cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
}

async function analyse(url: string, token: string): Promise<number> {
  const body = new FormData();
  body.append('audio', new Blob([readFileSync('examples/sample.wav')]));
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(`${url}/v1/analyze`, { method: 'POST', headers, body })).status;
}

for (const kind of databaseKinds) {
  test(`${kind}: from sign-up to an analysis, and on after a restart`, async (t) => {
    const dataDir = makeFolder();
    const databaseUrl = await makeDatabaseUrl(kind);
    const settings = { UNDERTONE_DATABASE_URL: databaseUrl, UNDERTONE_DATA_DIR: dataDir };
    const env = { ...(await sharedReceiptKeys()), ...settings, UNDERTONE_WORKERS: '1' };
    const first = await startServer(t, env);
    t.is((statSync(join(dataDir, 'secret')).mode & 0o777).toString(8), '600');
    const { status, cookie } = await post(first.url, 'sign-up', credentials);
    t.is(status, 200);
    const request = { name: 'ci', scopes: ['analyze:emotion', 'analyze:cognitive'] };
    const { token, id } = (await post(first.url, 'tokens', request, cookie)).json;
    t.is(await analyse(first.url, String(token)), 200);
    t.deepEqual(await first.stop(), { code: 0, signal: null });
    t.false(first.stderr().includes(credentials.password) || first.stderr().includes(String(token)));

    const database = await openDatabase(databaseUrl);
    const row = await database.selectFrom('tokens').selectAll().executeTakeFirstOrThrow();
    t.is(Number(row.last_used_at) % 60_000, 0, 'written at the end');
    t.true(Number(row.last_used_at) > Date.now() - 600_000);
    await database.destroy();

    const second = await startServer(t, env);
    t.is(await analyse(second.url, String(token)), 200);
    t.is((await post(second.url, `tokens/${id}/revoke`, {}, cookie)).status, 200);
    t.is(await analyse(second.url, String(token)), 401);
  });
}
