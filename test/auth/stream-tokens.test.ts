/** Tokens for one live session. */
import test from 'ava';
import { createStreamTokens } from '../../src/service/auth/stream-tokens.ts';

const secret = 'a secret of the tests, 32 characters or more';
const principal = {
  id: 'tok_1',
  name: 'app',
  owner: 'ada',
  purpose: 'captions',
  session: null,
  scopes: ['analyze:emotion', 'analyze:cognitive'],
} as const;

test('a token carries the principal with the permitted scopes, once', async (t) => {
  const issuer = createStreamTokens({ secret });
  const { token } = issuer.issue(principal, ['analyze:emotion']);
  t.regex(token, /^[\w-]+$/);
  const host = createStreamTokens({ secret });
  t.deepEqual(await host.redeem(token), { ...principal, scopes: ['analyze:emotion'] });
  t.is(await host.redeem(token), null);
});

test('a token expires after 60 s', async (t) => {
  let now = 1e12;
  const tokens = createStreamTokens({ secret, now: () => now });
  const [early, late] = [
    tokens.issue(principal, principal.scopes),
    tokens.issue(principal, principal.scopes),
  ];
  t.is(late.expiresAt.getTime(), now + 60_000);
  now += 59_999;
  t.not(await tokens.redeem(early.token), null);
  now += 1;
  t.is(await tokens.redeem(late.token), null);
});

test('a token of a clock that was set back is refused: its use may be forgotten', async (t) => {
  let now = 1e12;
  const tokens = createStreamTokens({ secret, now: () => now });
  const [skewed, back] = [
    tokens.issue(principal, principal.scopes),
    tokens.issue(principal, principal.scopes),
  ];
  now -= 60_000;
  t.not(await tokens.redeem(skewed.token), null);
  t.is(await tokens.redeem(skewed.token), null);
  now -= 1;
  t.is(await tokens.redeem(back.token), null);
});

test('a changed token and one of another secret are refused', async (t) => {
  const tokens = createStreamTokens({ secret });
  const { token } = tokens.issue(principal, principal.scopes);
  const flipped = `${token.slice(0, 40)}${token[40] === 'A' ? 'B' : 'A'}${token.slice(41)}`;
  for (const wrong of [flipped, token.slice(0, -4), '', 'x'.repeat(100), 'x'.repeat(5000)]) {
    t.is(await tokens.redeem(wrong), null);
  }
  const foreign = createStreamTokens({ secret: 'another secret of the tests, 32 characters' });
  t.is(await foreign.redeem(token), null);
  t.not(await tokens.redeem(token), null);
});

test('a token does not reveal the principal', (t) => {
  const { token } = createStreamTokens({ secret }).issue(principal, principal.scopes);
  t.false(Buffer.from(token, 'base64url').toString('latin1').includes('ada'));
});
