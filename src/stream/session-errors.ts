/** Errors that end a session, and their close codes. */
import { signals as allSignals } from '../analysis/signals/table.ts';
import { type Scope, scopeOf } from '../auth/tokens.ts';
import { ServiceError } from '../runtime/errors.ts';
import type { CloseReason, SessionConfig } from './protocol.ts';

/** A message that is valid, and not permitted here. */
export class PolicyError extends ServiceError {}

/** Why a session with the error closes. */
export function reasonOf(error: ServiceError): CloseReason {
  if (error instanceof PolicyError) return 'policy';
  switch (error.code) {
    case 'bad_request':
      return 'malformed';
    case 'invalid':
      return 'unusable';
    case 'rate_limited':
      return 'tooMany';
    case 'shutting_down':
      return 'draining';
    case 'overloaded':
    case 'deadline':
      return 'overloaded';
    default:
      return 'internal';
  }
}

/** @throws ServiceError for a signal outside the scopes of the token, and for a format that `split` excludes */
export function checkConfig({ split, channels, signals }: SessionConfig, scopes: readonly Scope[]): void {
  const missing = signals.map(scopeOf).filter((scope) => !scopes.includes(scope));
  if (missing.length > 0) {
    const expected = `scope ${missing.join(' and ')}`;
    throw new PolicyError('forbidden', `Expected ${expected} for \`signals\`, got a token without it`);
  }
  if (!split) return;
  if (channels !== 2) throw new ServiceError('invalid', 'Expected 2 for `channels` with `split`, got 1');
  if (signals.length === allSignals.length) return;
  throw new ServiceError('invalid', 'Expected all signals for `signals` with `split`, got one');
}
