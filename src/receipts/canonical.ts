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

/** The hash of a report covers every field but `receipt` and, at every depth, `request_id`. */
export function hashReport(report: object): string {
  const { receipt: _, ...signed } = report as { receipt?: unknown };
  return sha256(canonicalBytes(withoutRequestIds(signed)));
}

function withoutRequestIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRequestIds);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name, own]) => name !== 'request_id' && own !== undefined);
  return Object.fromEntries(kept.map(([name, own]) => [name, withoutRequestIds(own)]));
}
