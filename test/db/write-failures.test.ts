/** Writes that no request waits for do not fail unseen. */
import test from 'ava';
import pino from 'pino';
import { createTokens } from '../../src/service/auth/tokens.ts';
import { createUsageCounts } from '../../src/service/auth/usage.ts';
import { createWriteFailures } from '../../src/service/background-writes.ts';
import { openDatabase } from '../../src/service/database.ts';
import { createMetrics } from '../../src/service/http/metrics.ts';
import { makeDatabaseUrl } from '../support/database.ts';

async function open() {
  const database = await openDatabase(await makeDatabaseUrl('sqlite'));
  const lines: Readonly<Record<string, unknown>>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { database, lines, failures: createWriteFailures(logger) };
}

test('counts of usage that cannot be written are logged once, counted, and logged when they are written', async (t) => {
  const { database, lines, failures } = await open();
  const usage = createUsageCounts(database, Date.now, failures);
  const metrics = createMetrics();
  metrics.addWriteFailures(failures.counts);
  await database.schema.alterTable('usage').renameTo('away').execute();
  usage.add({ token: 'tok_0', owner: null }, { requests: 1 });
  for (const count of [1, 2]) {
    await t.throwsAsync(usage.flush());
    t.is(failures.counts().usage, count);
  }
  t.is(lines.length, 1);
  t.like(lines[0], { level: 40, write: 'usage' });
  t.regex(JSON.stringify(lines[0]), /no such table: usage/);
  t.regex(await metrics.text(), /^undertone_background_write_failures_total\{write="usage"\} 2$/m);
  t.regex(await metrics.text(), /^undertone_background_write_failures_total\{write="last_used"\} 0$/m);
  await database.schema.alterTable('away').renameTo('usage').execute();
  await usage.flush();
  t.like(lines[1], { level: 30, write: 'usage', msg: 'the database is written again' });
  await database.destroy();
});

test('last uses of tokens that cannot be written are logged and counted', async (t) => {
  const { database, lines, failures } = await open();
  const tokens = createTokens({ database, staticToken: null, failures });
  const request = { name: 'ci', scopes: ['analyze:emotion'], expiresAt: null, purpose: null };
  const { token } = await tokens.create(request);
  t.not(await tokens.verify(token), null);
  await database.schema.alterTable('tokens').renameTo('away').execute();
  await t.throwsAsync(tokens.flush());
  t.is(failures.counts().last_used, 1);
  t.like(lines[0], { level: 40, write: 'last_used' });
  await database.destroy();
});
