/** JSON in its canonical form (RFC 8785), which depends on neither spaces nor the order of keys. */
import canonicalize from 'canonicalize';
import { decodeUtf8 } from './json.ts';

/** @param value JSON */
export function canonicalBytes(value: unknown): Buffer {
  return Buffer.from(canonicalize(value) as string);
}

const stringOrSpaces = /"[^"\\]*(?:\\.[^"\\]*)*"|\s+/g;

/**
 * JSON that has one meaning: names occur once, and numbers are written as in the canonical form.
 * @throws for other bytes
 */
export function parseUnambiguous(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  const value: unknown = JSON.parse(text);
  const written = text.replace(stringOrSpaces, (part) =>
    part.startsWith('"') ? JSON.stringify(JSON.parse(part)) : '',
  );
  if (written !== JSON.stringify(value)) throw new SyntaxError('Expected each name once, got one twice');
  canonicalBytes(value);
  return value;
}
