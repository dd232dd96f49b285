/** Request and response schemas of the account page. */
import { z } from 'zod';
import { envelope } from '../analysis/report-schema.ts';
import { scopes } from '../auth/token-input.ts';
import { logInBody, passwordBody, removeBody, signUpBody, tokenBody } from '../http/body/account-body.ts';
import { withDescriptions } from './with-descriptions.ts';

const time = z.iso.datetime();
const email = 'E-mail address. It is not checked, nothing is ever sent to it.';
const password = '10 to 128 characters.';

const session = z
  .strictObject({
    user: z
      .strictObject({
        email: z.string().describe(email),
        administrator: z.boolean().describe('Whether tokens made on the command line are listed too.'),
      })
      .nullable()
      .describe('Who is logged in; null when nobody is.'),
    sign_up: z
      .enum(['first', 'open', 'closed'])
      .describe('Whether accounts can be created here; `first`: one can, and sign-up closes with it.'),
  })
  .describe('Who is logged in.');

const token = z
  .strictObject({
    id: z.string().describe('To revoke it by.'),
    name: z.string().describe('Unique among the live tokens of the account.'),
    prefix: z.string().describe('The first 7 characters of the token.'),
    scopes: z.array(z.enum(scopes).describe('A scope.')).describe('What it may be used for.'),
    created_at: time.describe('When it was made, UTC.'),
    expires_at: time.nullable().describe('When it ends, UTC; null for never.'),
    last_used_at: time.nullable().describe('When it was last used, UTC, to the minute; null for never.'),
    revoked_at: time.nullable().describe('When it was revoked, UTC; null when it was not.'),
    origin: z.enum(['account', 'command_line']).describe('Where it was made.'),
  })
  .describe('An API token, but for the token itself.');

const secret = z.string().describe('The token itself, shown this once.');

const item = z
  .strictObject({
    loc: z.array(z.string()).min(2).describe('Where: `body`, then the name of the field.'),
    msg: z.string().describe('What was expected and what came, for people.'),
    type: z
      .string()
      .describe(
        '`value_error.missing`, `value_error.FIELD`, or `value_error.FIELD.taken` for an address or name in use.',
      ),
  })
  .describe('One field that is wrong.');

export const accountSchemas = {
  Session: session,
  SignUp: withDescriptions(signUpBody, { email, password }).describe('A new account.'),
  LogIn: withDescriptions(logInBody, { email, password: 'That of the account.' }).describe(
    'An account and its password.',
  ),
  PasswordChange: withDescriptions(passwordBody, {
    current_password: 'The one until now.',
    new_password: password,
    revoke_tokens: 'Whether every token of the account is revoked too.',
  }).describe('A new password.'),
  Removal: withDescriptions(removeBody, { password: 'That of the account.' }).describe(
    'The end of the account.',
  ),
  TokenRequest: withDescriptions(tokenBody, {
    name: 'Unique among the live tokens of the account: 1 to 64 letters, digits, spaces or ._@-, letters or digits at both ends, that do not begin with tok_.',
    scopes: 'What it may be used for.',
    expires_in_days: 'Days until it ends, 1 to 3650; null for never.',
  }).describe('A token to make.'),
  Token: token,
  Tokens: z
    .strictObject({
      tokens: z.array(token).describe('Oldest first; an administrator sees those of the command line too.'),
    })
    .describe('The tokens of the account.'),
  NewToken: token.extend({ token: secret }).describe('The token, and what is kept of it.'),
  PlaygroundToken: z
    .strictObject({ token: secret, expires_at: time.describe('When it ends, UTC: after 15 minutes.') })
    .describe('A token for the page itself.'),
  AccountItem: item,
  AccountValidationFailure: z
    .strictObject({
      detail: z.array(item).min(1).describe('One item for each field that is wrong.'),
      request_id: envelope.request_id,
    })
    .describe('The body of 413 and 422.'),
} as const satisfies Readonly<Record<string, z.ZodType>>;
