/** Which account a request is counted for, and whose jobs its caller sees. */
import test from 'ava';
import { accountOf } from '../../../src/http/middleware/auth.ts';

const grant = { id: 'tok_1', name: 'ci', owner: null, scopes: [] };

test('tokens of one account share it, tokens of the operator are each on their own', (t) => {
  const operator = ['tok_1', 'tok_2'].map((id) => accountOf({ ...grant, id }));
  t.is(new Set(operator).size, 2);
  const account = ['tok_1', 'tok_2'].map((id) => accountOf({ ...grant, id, owner: 'ada' }));
  t.is(new Set(account).size, 1);
});

test('a caller without a grant has no account', (t) => {
  t.throws(() => accountOf(undefined), { message: /needs a token$/ });
});
