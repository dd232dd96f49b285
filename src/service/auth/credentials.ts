/** E-mail addresses and passwords: their schemas, and the errors of account operations. */

import { z } from 'zod';
import { ServiceError } from '../errors.ts';

export type Credentials = { readonly email: string; readonly password: string };

// Messages of the schemas are expectations: `Expected ... for`.

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

const sentences = {
  taken: 'Expected an address without an account for `email`, got one that has an account',
  unknown: 'Expected the address and password of an account, got others',
} as const;

/** `taken`: the address has an account. `unknown`: no account has this address and password. */
export class UserError extends Error {
  readonly reason: keyof typeof sentences;

  constructor(reason: keyof typeof sentences) {
    super(sentences[reason]);
    this.reason = reason;
  }
}

export function notLoggedIn(): ServiceError {
  return new ServiceError('unauthenticated', 'Expected a session for `Cookie`, got none: log in first');
}
