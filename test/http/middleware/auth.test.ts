/** The account of a token. */
import test from 'ava';
import { accountOf } from '../../../src/service/http/auth.ts';

const grant = { id: 'tok_1', name: 'ci', owner: null, purpose: null, session: null, scopes: [] };

test('tokens of one account share it, and each operator token is its own account', (t) => {
  const operator = ['tok_1', 'tok_2'].map((id) => accountOf({ ...grant, id }));
  t.is(new Set(operator).size, 2);
  const account = ['tok_1', 'tok_2'].map((id) => accountOf({ ...grant, id, owner: 'ada' }));
  t.is(new Set(account).size, 1);
});

test('a request without a token has no account', (t) => {
  t.throws(() => accountOf(undefined), { message: /needs a token$/ });
});
