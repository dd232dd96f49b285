/** Schemas of e-mail addresses and passwords. Messages are expectations: `Expected ... for`. */
import { z } from 'zod';

/** In UTF-16 units. */
export const passwordLength = { min: 10, max: 128 } as const;
const maxEmailLength = 254;

const { min, max } = passwordLength;
const lengths = `${min} to ${max} characters`;

export const email = z
  .email({ error: 'an e-mail address' })
  .max(maxEmailLength, { error: 'an e-mail address' });
export const newPassword = z
  .string({ error: lengths })
  .min(min, { error: lengths })
  .max(max, { error: lengths });
/** Compared with the current password, whatever its length. */
export const givenPassword = z
  .string({ error: 'a password' })
  .min(1, { error: 'a password' })
  .max(max, { error: 'a password' });
