/** Request and response schemas of the account page. */
import { z } from 'zod';
import { envelope } from '../../engine/schema.ts';
import {
  email as emailSchema,
  givenPassword,
  newPassword as newPasswordSchema,
} from '../auth/credentials.ts';
import { allScopes, scopes } from '../auth/token-format.ts';
import { maxPurpose, nameSchema } from '../auth/token-input.ts';

const maxDays = 3650;

const emailText = 'E-mail address. It is not verified and receives no mail.';
const email = emailSchema.describe(emailText);
const password = givenPassword.describe('Password of the account.');
const newPassword = newPasswordSchema.describe('10 to 128 characters.');

export const signUpBody = z.object({ email, password: newPassword }).describe('A new account.');
export const logInBody = z.object({ email, password }).describe('An account and its password.');
export const passwordBody = z
  .object({
    current_password: givenPassword.describe('The current password.'),
    new_password: newPassword,
    revoke_tokens: z
      .boolean({ error: 'true or false' })
      .default(false)
      .describe('Whether to revoke every token of the account.'),
  })
  .describe('A new password.');
export const removeBody = z.object({ password }).describe('Deletion of the account.');

export const playgroundCodeBody = z
  .object({
    code: z.string({ error: 'a code' }).max(128, { error: 'a code' }).describe('The code of the link.'),
  })
  .describe('A one-time code.');

const oneScope = { error: `scopes of ${scopes.join(', ')}` };
const scopeList = { error: `a list of ${scopes.join(', ')}` };
const purposeText = { error: 'a text, or null' };
const wholeDays = { error: `whole days from 1 to ${maxDays}, or null` };

export const tokenBody = z
  .object({
    name: z
      .string({ error: 'a name' })
      .meta(nameSchema)
      .describe(
        'Unique among the live tokens of the account: 1 to 64 letters, digits, spaces or ._@-, letters or digits at both ends; must not start with tok_.',
      ),
    scopes: z
      .array(z.enum(scopes, oneScope), scopeList)
      .min(1, oneScope)
      .max(scopes.length, oneScope)
      .describe('Permitted scopes.'),
    expires_in_days: z
      .int(wholeDays)
      .min(1, wholeDays)
      .max(maxDays, wholeDays)
      .nullable()
      .default(null)
      .describe('Days until expiry, 1 to 3650; null for never.'),
    purpose: z
      .string(purposeText)
      .meta({ minLength: 1, maxLength: maxPurpose })
      .nullable()
      .default(null)
      .describe(
        `What the scores are for, shown with usage and in receipts: 1 to ${maxPurpose} visible characters on one line; null without a declaration.`,
      ),
  })
  .describe('A token to create.');

const time = z.iso.datetime();

const session = z
  .strictObject({
    user: z
      .strictObject({
        email: z.string().describe(emailText),
        administrator: z.boolean().describe('Whether tokens of the command line are listed too.'),
      })
      .nullable()
      .describe('The user of the session; null without a session.'),
    sign_up: z
      .enum(['first', 'open', 'closed'])
      .describe('Whether accounts can be created; `first`: only the first one.'),
  })
  .describe('The current session.');

const token = z
  .strictObject({
    id: z.string().describe('Id of the token.'),
    name: z.string().describe('Unique among the live tokens of the account.'),
    prefix: z.string().describe('The first 7 characters of the token.'),
    scopes: z.array(z.enum(allScopes).describe('A scope.')).describe('Permitted scopes.'),
    purpose: z.string().nullable().describe('What the scores are for; null without a declaration.'),
    created_at: time.describe('Time of creation, UTC.'),
    expires_at: time.nullable().describe('Time of expiry, UTC; null for never.'),
    last_used_at: time.nullable().describe('Time of the last use, UTC, to the minute; null for never.'),
    revoked_at: time.nullable().describe('Time of revocation, UTC; null if not revoked.'),
    origin: z.enum(['account', 'command_line']).describe('Where the token was created.'),
  })
  .describe('An API token without its secret.');

const secret = z.string().describe('The token. It is shown only once.');

const item = z
  .strictObject({
    loc: z.array(z.string()).min(2).describe('The location: `body` and the name of the field.'),
    msg: z.string().describe('The expected and the received value, for people.'),
    type: z
      .string()
      .describe(
        '`value_error.missing`, `value_error.FIELD`, or `value_error.FIELD.taken` for an address or name in use.',
      ),
  })
  .describe('One invalid field.');

export const accountSchemas = {
  Session: session,
  SignUp: signUpBody,
  LogIn: logInBody,
  PasswordChange: passwordBody,
  Removal: removeBody,
  TokenRequest: tokenBody,
  Token: token,
  Tokens: z
    .strictObject({
      tokens: z.array(token).describe('Oldest first; for an administrator also those of the command line.'),
    })
    .describe('The tokens of the account.'),
  NewToken: token.extend({ token: secret }).describe('The token and its record.'),
  PlaygroundCode: playgroundCodeBody,
  PlaygroundToken: z
    .strictObject({ token: secret, expires_at: time.describe('Time of expiry, UTC.') })
    .describe('A token for the playground.'),
  AccountItem: item,
  AccountValidationFailure: z
    .strictObject({
      detail: z.array(item).min(1).describe('One item per invalid field.'),
      request_id: envelope.request_id,
    })
    .describe('The body of 413 and 422.'),
} as const satisfies Readonly<Record<string, z.ZodType>>;

export type AccountJson = {
  readonly [Name in keyof typeof accountSchemas]: Readonly<z.infer<(typeof accountSchemas)[Name]>>;
};
