import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { loadOrCreateSecret } from '../../src/service/auth/secret.ts';
import { makeFolder } from '../support/folder.ts';

test('a secret is made once, for its owner alone', async (t) => {
  const folder = makeFolder();
  const secret = await loadOrCreateSecret(folder);
  t.regex(secret, /^[\w-]{43}$/);
  t.is(await loadOrCreateSecret(folder), secret);
  t.deepEqual(readdirSync(folder), ['secret']);
  t.is((statSync(join(folder, 'secret')).mode & 0o777).toString(8), '600');
  t.not(await loadOrCreateSecret(makeFolder()), secret);
});

test('of twenty parallel calls one creates the secret', async (t) => {
  const folder = makeFolder();
  const secrets = await Promise.all(Array.from({ length: 20 }, () => loadOrCreateSecret(folder)));
  t.is(new Set(secrets).size, 1);
  t.deepEqual(secrets[0], readFileSync(join(folder, 'secret'), 'utf8').trim());
});

test('an existing secret is kept', async (t) => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'secret'), 'a secret of the operator, long enough\n');
  t.is(await loadOrCreateSecret(folder), 'a secret of the operator, long enough');
});
