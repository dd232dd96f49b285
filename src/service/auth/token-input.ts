/** What a request for a token may have. */
import { allScopes } from './token-format.ts';

export type TokenInput = {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
  /** What the scores are for, in the words of the operator; null without a declaration. */
  readonly purpose: string | null;
};

export class TokenError extends Error {
  readonly field: keyof TokenInput;
  /** Another live token of the owner has the name. */
  readonly taken: boolean;

  constructor(expected: string, field: keyof TokenInput, got: unknown, taken = false) {
    const name = field === 'expiresAt' ? 'expires' : field;
    super(`Expected ${expected} for \`${name}\`, got ${JSON.stringify(got)}`);
    this.field = field;
    this.taken = taken;
  }
}

/** Prefix of ids, which names must not have. */
export const idPrefix = 'tok_';
/** Longest purpose, UTF-16 code units. */
export const maxPurpose = 200;
const purposePattern = /^(?!\s)[^\p{C}\p{Zl}\p{Zp}]+(?<!\s)$/u;
const namePattern = /^[\p{L}\p{N}](?:[\p{L}\p{N} ._@-]{0,62}[\p{L}\p{N}])?$/u;

/** Symbols of ASCII from U+007B, of U+0080 to U+00A9 and of general punctuation, for a class of characters. */
const symbols = String.raw`\x7B-\xA9\u2000-\u206F`;
const edge = String.raw`[^\x00-\x2F\x3A-\x40\x5B-\x60${symbols}]`;
const inner = String.raw`[^\x00-\x1F\x21-\x2C\x2F\x3A-\x3F\x5B-\x5E\x60${symbols}]`;
/**
 * The rule of names as JSON Schema, without `\p{L}`, which regular expressions of Python lack: it accepts every name, and
 * symbols beyond `symbols`.
 */
export const nameSchema = {
  minLength: 1,
  maxLength: 64,
  pattern: `^${edge}(?:${inner}*${edge})?$`,
  not: { pattern: `^${idPrefix}` },
};

/** @param now ms since 1970 @throws TokenError */
export function checkTokenInput(
  { name, scopes: requested, expiresAt, purpose }: TokenInput,
  now: number,
): void {
  if (!namePattern.test(name) || name.startsWith(idPrefix)) {
    throw new TokenError('1 to 64 letters, digits, spaces or ._@- that do not begin with tok_', 'name', name);
  }
  if (requested.length > allScopes.length) {
    throw new TokenError(`at most ${allScopes.length} scopes`, 'scopes', requested.length);
  }
  const unknown = requested.find((scope) => !allScopes.some((known) => known === scope));
  if (requested.length === 0 || unknown !== undefined) {
    throw new TokenError(`scopes of ${allScopes.join(', ')}`, 'scopes', unknown ?? '');
  }
  if (expiresAt !== null && !(expiresAt.getTime() > now)) {
    throw new TokenError('a time to come', 'expiresAt', expiresAt);
  }
  if (purpose !== null && (purpose.length > maxPurpose || !purposePattern.test(purpose))) {
    throw new TokenError(`1 to ${maxPurpose} visible characters on one line`, 'purpose', purpose);
  }
}
