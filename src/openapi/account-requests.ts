/** The JSON bodies of the account page. */
import { z } from 'zod';
import { email, givenPassword, newPassword } from '../auth/credentials.ts';
import { scopes } from '../auth/tokens.ts';

const maxDays = 3650;

const wholeDays = `whole days from 1 to ${maxDays}, or null`;
const days = z.int({ error: wholeDays }).min(1, { error: wholeDays }).max(maxDays, { error: wholeDays });

export const signUpBody = z.object({ email, password: newPassword });
export const logInBody = z.object({ email, password: givenPassword });
const revokeTokens = z.boolean({ error: 'true or false' }).default(false);
export const passwordBody = z.object({
  current_password: givenPassword,
  new_password: newPassword,
  revoke_tokens: revokeTokens,
});
export const removeBody = z.object({ password: givenPassword });
const oneScope = { error: `scopes of ${scopes.join(', ')}` };
const scopeList = { error: `a list of ${scopes.join(', ')}` };

export const tokenBody = z.object({
  name: z.string({ error: 'a name' }),
  scopes: z.array(z.enum(scopes, oneScope), scopeList).min(1, oneScope).max(scopes.length, oneScope),
  expires_in_days: days.nullable().default(null),
});
