/** Errors of account operations. */
import { ServiceError } from '../runtime/errors.ts';

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
