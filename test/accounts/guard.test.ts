import test from 'ava';
import { networkOf } from '../../src/accounts/counters.ts';
import { createGuard } from '../../src/accounts/guard.ts';
import { UserError } from '../../src/accounts/refusal.ts';
import { Failure } from '../../src/errors.ts';

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

for (const [address, network] of networks) {
  test(`${address} counts as ${network}`, (t) => t.is(networkOf(address), network));
}

const who = { email: 'ada@home.example', address: '192.0.2.7' };
const wrong = async () => {
  throw new UserError('unknown');
};

test('ten wrong passwords are taken, the eleventh is not even looked at', async (t) => {
  const guard = createGuard();
  for (let count = 0; count < 10; count++)
    await t.throwsAsync(guard.password(who, wrong), { instanceOf: UserError });
  let looked = false;
  const look = async () => {
    looked = true;
  };
  const failure = await t.throwsAsync<Failure>(guard.password(who, look), { instanceOf: Failure });
  t.is(failure.code, 'rate_limited');
  t.false(looked);
});

test("an outage is nobody's wrong password", async (t) => {
  const guard = createGuard();
  const outage = async () => {
    throw new Failure('storage_unavailable', 'gone');
  };
  for (let count = 0; count < 30; count++)
    await t.throwsAsync(guard.password(who, outage), { message: 'gone' });
  t.is(await guard.password(who, async () => 'in'), 'in');
});
