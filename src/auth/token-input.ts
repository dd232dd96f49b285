/** What may be asked of a new token. */
import { type Signal, signals } from '../analysis/signals/table.ts';

export type Scope = `analyze:${Signal}`;

export const scopeOf = (signal: Signal): Scope => `analyze:${signal}`;
export const scopes: readonly Scope[] = signals.map(scopeOf);

export type TokenInput = {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
};

/** A request for a token that cannot be granted as it is. */
export class TokenError extends Error {
  readonly field: keyof TokenInput;
  /** It would do, had not another live token of the owner the same name. */
  readonly taken: boolean;

  constructor(what: string, field: keyof TokenInput, got: unknown, taken = false) {
    const name = field === 'expiresAt' ? 'expires' : field;
    super(`Expected ${what} for \`${name}\`, got ${JSON.stringify(got)}`);
    this.field = field;
    this.taken = taken;
  }
}

/** What identifiers begin with, so that none can be mistaken for a name. */
export const idPrefix = 'tok_';
const namePattern = /^[\p{L}\p{N}](?:[\p{L}\p{N} ._@-]{0,62}[\p{L}\p{N}])?$/u;

/** @param now milliseconds since 1970 @throws TokenError */
export function checkTokenInput({ name, scopes: asked, expiresAt }: TokenInput, now: number): void {
  if (!namePattern.test(name) || name.startsWith(idPrefix)) {
    throw new TokenError('1 to 64 letters, digits, spaces or ._@- that do not begin with tok_', 'name', name);
  }
  if (asked.length > scopes.length) {
    throw new TokenError(`at most ${scopes.length} scopes`, 'scopes', asked.length);
  }
  const unknown = asked.find((scope) => !scopes.some((known) => known === scope));
  if (asked.length === 0 || unknown !== undefined) {
    throw new TokenError(`scopes of ${scopes.join(', ')}`, 'scopes', unknown ?? '');
  }
  if (expiresAt !== null && !(expiresAt.getTime() > now)) {
    throw new TokenError('a time to come', 'expiresAt', expiresAt);
  }
}
