/** What an address and a password may be. */
import { z } from 'zod';

/** In UTF-16 units. */
export const passwordLength = { min: 10, max: 128 } as const;
const maxEmailLength = 254;

const { min, max } = passwordLength;
const lengths = `${min} to ${max} characters`;

/** Messages say what was expected. */
export const email = z
  .email({ error: 'an e-mail address' })
  .max(maxEmailLength, { error: 'an e-mail address' });
export const newPassword = z
  .string({ error: lengths })
  .min(min, { error: lengths })
  .max(max, { error: lengths });
/** One that is compared with what was set before. */
export const givenPassword = z
  .string({ error: 'a password' })
  .min(1, { error: 'a password' })
  .max(max, { error: 'a password' });
