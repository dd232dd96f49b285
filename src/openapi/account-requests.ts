/** The JSON bodies of the account page. */
import { z } from 'zod';
import {
  email as emailSchema,
  givenPassword,
  newPassword as newPasswordSchema,
} from '../auth/credentials.ts';
import { maxPurpose, nameSchema, scopes } from '../auth/token-input.ts';

const maxDays = 3650;

export const emailText = 'E-mail address. It is not verified and receives no mail.';
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
