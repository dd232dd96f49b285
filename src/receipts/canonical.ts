/** Hashes of bytes, and of JSON in its canonical form (RFC 8785), which depends on neither spaces nor the order of keys. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** @param value JSON */
export function canonicalBytes(value: unknown): Buffer {
  return Buffer.from(canonicalize(value) as string);
}

/** Lower-case hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

type Report = Readonly<Record<string, unknown>>;

/** The hash of a report covers every field but `receipt`, and `request_id` of the report and of each channel or speaker. */
export function hashReport(report: object): string {
  const { receipt: _, ...signed } = withoutId(report as Report);
  const parts = ['channels', 'speakers'].flatMap((name) => {
    const reports = signed[name];
    return Array.isArray(reports) ? [[name, reports.map(withoutId)] as const] : [];
  });
  return sha256(canonicalBytes({ ...signed, ...Object.fromEntries(parts) }));
}

function withoutId({ request_id: _, ...rest }: Report): Report {
  return rest;
}

const stringOrSpaces = /"[^"\\]*(?:\\.[^"\\]*)*"|\s+/g;

/**
 * JSON that has one meaning: names occur once, and numbers are written as in the canonical form.
 * @throws for other bytes
 */
export function parseUnambiguous(bytes: Uint8Array): unknown {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  const value: unknown = JSON.parse(text);
  const written = text.replace(stringOrSpaces, (part) =>
    part.startsWith('"') ? JSON.stringify(JSON.parse(part)) : '',
  );
  if (written !== JSON.stringify(value)) throw new SyntaxError('Expected each name once, got one twice');
  canonicalBytes(value);
  return value;
}
