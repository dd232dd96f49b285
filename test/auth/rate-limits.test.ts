/** Limits of log-ins and requests, and what the counters leave in Redis. */
import test from 'ava';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { UserError } from '../../src/service/auth/credentials.ts';
import { createLoginThrottle } from '../../src/service/auth/login-throttle.ts';
import { consume, createSharedRateLimiters, inMemory } from '../../src/service/auth/rate-limits.ts';
import { ServiceError } from '../../src/service/errors.ts';
import { networkOf } from '../../src/service/network.ts';
import { analysis, startApp } from '../support/app.ts';
import { call } from '../support/http.ts';
import { connectRedis, useRedis } from '../support/redis.ts';

test.serial(
  'a limit reached before the clock was set back starts anew, in memory and in Redis',
  async (t) => {
    const redis = await useRedis(t);
    const connection = await connectRedis(t, redis.url);
    const shared = createSharedRateLimiters(connection, 'a secret that is shared by every host', () => {});
    const { now } = Date;
    t.teardown(() => {
      Date.now = now;
    });
    for (const store of [inMemory, shared]) {
      Date.now = now;
      const limiter = store('clock', { requests: 2, seconds: 60 });
      for (const full of [false, false, true]) t.is((await consume(limiter, 'a')).full, full);
      Date.now = () => now() - 7_200_000;
      // The clock of Redis is that of its host.
      for (const key of await redis.client.keys('*')) await redis.client.expire(key, 7200);
      const first = await consume(limiter, 'a');
      t.deepEqual([first.full, first.remaining], [false, 1]);
      t.true(first.seconds <= 60, `${first.seconds}`);
      for (const full of [false, true]) t.is((await consume(limiter, 'a')).full, full);
    }
  },
);

const networks: readonly [address: string, network: string][] = [
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:0DB8:1:2::1', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1:2%eth0', 'fe80:0:0:0'],
  ['1:2:3:4:5:6:7::', '1:2:3:4'],
];

test('the network of an address is its IPv4 address, or its /64 in IPv6', (t) => {
  for (const [address, network] of networks) t.is(networkOf(address), network, address);
});

const who = { email: 'ada@home.example', address: '192.0.2.7' };

test('of twenty parallel wrong passwords ten are checked', async (t) => {
  const guard = createLoginThrottle();
  let checked = 0;
  const check = async () => {
    checked++;
    throw new UserError('unknown');
  };
  const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => guard.password(who, check)));
  const codes = attempts.map((attempt) => attempt.status === 'rejected' && attempt.reason.code);
  t.deepEqual([checked, codes.filter((code) => code === 'rate_limited').length], [10, 10]);
});

test('an outage does not count as a wrong password', async (t) => {
  const guard = createLoginThrottle();
  const outage = async () => {
    throw new ServiceError('storage_unavailable', 'gone');
  };
  for (let count = 0; count < 30; count++)
    await t.throwsAsync(guard.password(who, outage), { message: 'gone' });
  t.is(await guard.password(who, async () => 'in'), 'in');
});

test('wrong passwords from other networks do not keep an account out of its own', async (t) => {
  const guard = createLoginThrottle();
  const wrong = async () => {
    throw new UserError('unknown');
  };
  const guess = (address: string) => t.throwsAsync<ServiceError>(guard.password({ ...who, address }, wrong));
  for (const network of ['2001:db8:0:1', '2001:db8:0:2']) {
    for (let count = 0; count < 10; count++) await guess(`${network}::${count}`);
    t.is((await guess(`${network}::99`))?.code, 'rate_limited');
  }
  t.is(await guard.password({ ...who, address: '2001:db8:0:3::1' }, async () => 'in'), 'in');
  t.is(await guard.password(who, async () => 'in'), 'in');
});

test('twenty right passwords of one account and network are accepted in a minute', async (t) => {
  const guard = createLoginThrottle();
  let checked = 0;
  const right = async () => ++checked;
  const from = (index: number) => ({ ...who, address: `2001:db8::${index}` });
  const failures: ServiceError[] = [];
  for (let index = 0; index < 30; index++)
    await guard.password(from(index), right).catch((error: ServiceError) => failures.push(error));
  t.deepEqual([checked, failures.length], [20, 10]);
  for (const reason of failures) {
    t.is(reason.code, 'rate_limited');
    t.true(reason.retryAfterSeconds > 0 && reason.retryAfterSeconds <= 60, `${reason.retryAfterSeconds}`);
  }
  t.is(await guard.password(who, right), 21, 'other networks are not held up');
  t.is(await guard.password({ ...from(1), email: 'bob@home.example' }, right), 22, 'nor are other accounts');
});

test('right passwords beyond the limit are no wrong ones', async (t) => {
  const counters = new Map<string, RateLimiterAbstract>();
  const guard = createLoginThrottle((name, rate) => {
    const counter = inMemory(name, rate);
    counters.set(name, counter);
    return counter;
  });
  for (let count = 0; count < 40; count++) await guard.password(who, async () => 'in').catch(() => {});
  t.is((await counters.get('account')?.get(`${who.email} ${who.address}`))?.consumedPoints, 0);
  t.is((await counters.get('address')?.get(who.address))?.consumedPoints, 0);
});

// What counters leave in Redis.

const secret = 'a secret that is shared by every host';
const visitor = { email: 'Ada.Lovelace@home.example', address: '192.0.2.77' };
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
    await t.throwsAsync(guard.password(visitor, wrong), { instanceOf: UserError });
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
  await t.throwsAsync(there.password(visitor, wrong), { instanceOf: UserError });
  t.is((await t.throwsAsync<ServiceError>(there.password(visitor, wrong)))?.code, 'rate_limited');
  t.is(
    await there.password({ ...visitor, address: '192.0.2.78' }, async () => 'in'),
    'in',
    'another network',
  );
  const other = createLoginThrottle(await counters('the secret of another installation'));
  await t.throwsAsync(other.password(visitor, wrong), { instanceOf: UserError });
});
