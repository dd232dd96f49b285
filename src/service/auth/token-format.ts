/** Tokens as text: the validation of requests for them, and their format. */

import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Signal, signals } from '../../engine/schema.ts';

type AnalysisScope = `analyze:${Signal}`;
export type Scope = AnalysisScope | 'embed';

export const scopeOf = (signal: Signal): AnalysisScope => `analyze:${signal}`;
/** Of analyses: what accounts, UNDERTONE_TOKEN and live sessions may have. */
export const scopes: readonly AnalysisScope[] = signals.map(scopeOf);
/** With those that only `undertone token create` grants. */
export const allScopes: readonly Scope[] = [...scopes, 'embed'];

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

// Format of tokens: `ut_`, 40 random base62 characters (238 bits) and a CRC-32 of 6 characters.

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'ut_';
const randomLength = 40;
const checksumLength = 6;
const pattern = /^ut_[0-9A-Za-z]{46}$/;

export function randomBase62(length: number): string {
  return Array.from({ length }, () => base62[randomInt(base62.length)]).join('');
}

export function createTokenSecret(): string {
  const body = prefix + randomBase62(randomLength);
  return body + checksum(body);
}

/** Checks format and checksum, which refuses typing errors without a database query. */
export function isToken(text: string): boolean {
  if (!pattern.test(text)) return false;
  const body = text.slice(0, -checksumLength);
  return text.slice(-checksumLength) === checksum(body);
}

/** CRC-32 (zlib) of prefix and random part in base62, highest digit first. */
export function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let index = 0; index < checksumLength; index++) {
    digits = base62[rest % base62.length] + digits;
    rest = Math.floor(rest / base62.length);
  }
  return digits;
}

/** SHA-256, as stored. */
export function hashToken(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
