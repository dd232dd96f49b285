/** What counters leave in Redis. */
import test from 'ava';
import { UserError } from '../../src/service/auth/credentials.ts';
import { createLoginThrottle, createSharedRateLimiters } from '../../src/service/auth/rate-limits.ts';
import type { ServiceError } from '../../src/service/errors.ts';
import { analysis, startApp } from '../support/app.ts';
import { call } from '../support/http.ts';
import { connectRedis, useRedis } from '../support/redis.ts';

const secret = 'a secret that is shared by every host';
const who = { email: 'Ada.Lovelace@home.example', address: '192.0.2.77' };
const wrong = async () => {
  throw new UserError('unknown');
};

test('neither addresses nor accounts nor tokens can be read from Redis, and hosts with one secret count together', async (t) => {
  const redis = await useRedis(t);
  const counters = async (key: string) => {
    return createSharedRateLimiters(await connectRedis(t, redis.url), key, () => {});
  };
  const guard = createLoginThrottle(await counters(secret));
  for (let count = 0; count < 9; count++)
    await t.throwsAsync(guard.password(who, wrong), { instanceOf: UserError });
  await guard.signUp('2001:db8:77:7::1');
  await guard.token('owner-of-an-account');
  const env = {
    UNDERTONE_ADDRESS_RATE_LIMIT: '9/60',
    UNDERTONE_RATE_LIMIT: '9/60',
    UNDERTONE_TRUST_PROXY: '1',
  };
  const app = await startApp(t, { env, rateLimiters: await counters(secret) });
  const echo = analysis({ do: 'echo' });
  const headers = { ...echo.headers, 'X-Forwarded-For': '198.51.100.99' };
  t.is((await call(app.port, { ...echo, headers })).status, 200);

  const keys = (await redis.client.keys('*')).sort();
  t.is(keys.length, 7, keys.join());
  for (const key of keys) t.regex(key, /^undertone:[A-Za-z-]+:[\w-]{43}$/);
  t.is(new Set(keys.map((key) => key.split(':')[2])).size, 7, 'an address has another key in every counter');
  const dump = (await redis.dump()).toString('latin1');
  for (const word of ['lovelace', 'home.example', '192.0.2.77', '2001:db8', '198.51.100', 'owner-of'])
    t.false(dump.toLowerCase().includes(word), word);

  const there = createLoginThrottle(await counters(secret));
  await t.throwsAsync(there.password(who, wrong), { instanceOf: UserError });
  t.is((await t.throwsAsync<ServiceError>(there.password(who, wrong)))?.code, 'rate_limited');
  t.is(await there.password({ ...who, address: '192.0.2.78' }, async () => 'in'), 'in', 'another network');
  const other = createLoginThrottle(await counters('the secret of another installation'));
  await t.throwsAsync(other.password(who, wrong), { instanceOf: UserError });
});
