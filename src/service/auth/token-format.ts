/** Tokens: their scopes, and their format as text. */

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
function checksum(body: string): string {
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
