/** Keys of receipts, and the software that they name. */
import { createPublicKey, verify } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { loadModels } from '../../src/node/models.ts';
import { shippedModels } from '../../src/node/paths.ts';
import { describeSoftware } from '../../src/service/compose-receipt.ts';
import { ConfigError, parseConfig } from '../../src/service/config.ts';
import {
  addKey,
  loadKeys,
  loadOrCreateKeys,
  openKeys,
  openReceiptKeys,
  type PublicKey,
} from '../../src/service/receipt-keys.ts';
import { signReceipt } from '../../src/service/receipts.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { spawnServer } from '../support/server.ts';

const fresh = () => join(makeFolder(), 'receipt-keys.json');
const stored = (path: string): { kid: string; d?: string }[] => JSON.parse(readFileSync(path, 'utf8')).keys;
const days = (count: number) => new Date(Date.now() + 86_400_000 * count);

test('a missing file is created for its owner alone, once for processes that start together', async (t) => {
  const path = fresh();
  const all = await Promise.all(Array.from({ length: 8 }, () => loadOrCreateKeys(path)));
  t.is(new Set(all.map((keys) => keys.current().id)).size, 1);
  t.is(statSync(path).mode & 0o777, 0o600);
  t.notRegex(JSON.stringify(all[0]?.published), /"d"/);
});

test('a named file is never created', async (t) => {
  const path = fresh();
  await t.throwsAsync(loadKeys(path), { instanceOf: ConfigError, message: /got none at/ });
  t.false(existsSync(path));
});

for (const shared of [
  { UNDERTONE_REDIS_URL: 'redis://127.0.0.1' },
  { UNDERTONE_DATABASE_URL: 'postgres://127.0.0.1/undertone' },
]) {
  const [name = ''] = Object.keys(shared);
  test(`with ${name} no host invents a key: the error names the command that creates one for all`, async (t) => {
    const dataDir = makeFolder();
    const env = { UNDERTONE_DATA_DIR: dataDir, ...shared };
    const open = () => openReceiptKeys(parseConfig(env));
    const path = join(dataDir, 'receipt-keys.json');
    const message = `Expected a file of receipt keys (UNDERTONE_RECEIPT_KEYS), got none at ${path}: create it once with \`undertone keys create\`, the same for all hosts and workers`;
    await t.throwsAsync(open, { instanceOf: ConfigError, message });
    t.deepEqual(readdirSync(dataDir), []);
    const server = await spawnServer(t, env);
    t.deepEqual(await server.exit, { code: 2, signal: null });
    t.true(server.stderr().includes(message), server.stderr());
    const created = await runCli(['keys', 'create'], { env });
    t.is((await open()).current().id, JSON.parse(created.stdout).keys[0].kid);
  });
}

test('a key signs from its time on, and a retired one stays published without its private part', async (t) => {
  const path = fresh();
  const [first] = await addKey(path, days(-2));
  await addKey(path, days(30));
  t.is((await loadKeys(path)).current().id, first?.kid as string);
  await addKey(path, days(-1));
  const keys = await loadKeys(path);
  t.not(keys.current().id, first?.kid as string);
  t.deepEqual(
    stored(path).map(({ d }) => d !== undefined),
    [true, true, true],
    'the first key signed until now',
  );
  await addKey(path, days(0));
  t.deepEqual(
    stored(path).map(({ d }) => d !== undefined),
    [false, true, true, true],
  );
  t.is(stored(path)[0]?.kid, first?.kid);
  t.true(keys.published.some(({ kid }) => kid === first?.kid));
});

test('with a clock behind the start of every key the newest signs', async (t) => {
  const path = fresh();
  await addKey(path, days(1));
  const [, newest] = await addKey(path, days(2));
  const keys = await loadKeys(path);
  t.deepEqual([keys.current().id, keys.isEarly()], [newest?.kid as string, true]);
});

test('one key signs with the clock 2 h back and 48 h ahead', async (t) => {
  const path = fresh();
  await addKey(path, days(0));
  const [key] = stored(path) as [Parameters<typeof openKeys>[0][number]];
  for (const hours of [-2, 0, 48]) {
    const keys = openKeys([key], () => Date.now() + 3_600_000 * hours);
    t.deepEqual([keys.current().id, keys.isEarly()], [key.kid, hours < 0], `${hours} h`);
  }
});

test('a file of public keys alone is refused', async (t) => {
  const path = fresh();
  await addKey(path, days(-1));
  const { keys } = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ keys: keys.map(({ d: _, ...key }: { d: string }) => key) }));
  await t.throwsAsync(loadKeys(path), { instanceOf: ConfigError, message: /a private key/ });
});

test('the message about a broken file quotes none of it', async (t) => {
  const path = fresh();
  await addKey(path, days(0));
  const text = readFileSync(path, 'utf8');
  const secret = stored(path)[0]?.d ?? '';
  writeFileSync(path, text.replace('"OKP"', '"EC"'));
  const error = await t.throwsAsync(loadKeys(path), { instanceOf: ConfigError });
  t.false(error.message.includes(secret));
});

test('the published key verifies what the private one signs', async (t) => {
  const { current, published } = await loadOrCreateKeys(fresh());
  const json = Buffer.from(`{"receipt":{"signature":"${'A'.repeat(86)}=="}}`);
  const signed = Buffer.from('{}');
  signReceipt({ json, signed }, current().key);
  const { kty, crv, x } = published[0] as PublicKey;
  const publicKey = createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
  const signature = Buffer.from(JSON.parse(json.toString()).receipt.signature, 'base64');
  t.true(verify(null, signed, publicKey, signature));
});

test('undertone keys creates a key for later, and prints the public keys', async (t) => {
  const env = { UNDERTONE_DATA_DIR: join(makeFolder(), 'new') };
  t.is((await runCli(['keys', 'create'], { env })).code, 0);
  const later = '2099-01-01T00:00:00.000Z';
  t.is((await runCli(['keys', 'create', '--signs-from', later], { env })).code, 0);
  const { stdout } = await runCli(['keys', 'public'], { env });
  const { keys } = JSON.parse(stdout);
  t.is(keys.length, 2);
  t.is(keys[1].signs_from, later);
  t.false(stdout.includes('"d"'));
  const wrong = await runCli(['keys', 'create', '--signs-from', 'soon'], { env });
  t.is(wrong.code, 2);
  t.regex(wrong.stderr, /Expected a time such as 2027-01-01T00:00:00Z for `--signs-from`, got "soon"/);
});

test('a receipt names every model of the set that is loaded, one of another kind too', async (t) => {
  const models = await loadModels(shippedModels);
  const folders = readdirSync(shippedModels, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const namesOf = (loaded: typeof models) =>
    describeSoftware(loaded)
      .models.map(({ name }) => name)
      .sort();
  t.deepEqual(namesOf(models), folders.map(({ name }) => name).sort());
  const third = { ...models.emotion.manifest, name: 'third' };
  const manifests = [...models.manifests, third];
  t.deepEqual(namesOf({ ...models, manifests }), [...folders.map(({ name }) => name), 'third'].sort());
});
