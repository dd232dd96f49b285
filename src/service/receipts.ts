/** Signs receipts, and checks signatures. The private key stays on the main thread, which decodes nothing. */
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { Receipt, UnsignedReceipt } from '../engine/schema.ts';
import { canonicalBytes } from './canonical-json.ts';
import type { PublicKey } from './receipt-keys.ts';
import { sha256 } from './sha256.ts';

/** Bytes of an Ed25519 signature in base64. */
const signatureLength = 88;
/** A signature of the right length, replaced in place. */
const blank = `${'A'.repeat(signatureLength - 2)}==`;
/** What follows the signature: it is the last field of the last field. */
const ending = '"}}';

/** The JSON of a report with its receipt, whose signature is missing, and what is to be signed. */
export type Unsigned = { readonly json: Uint8Array; readonly signed: Uint8Array };

export function attachReceipt(report: object, receipt: UnsignedReceipt): Unsigned {
  const json = JSON.stringify({ ...report, receipt: { ...receipt, signature: blank } });
  return { json: new TextEncoder().encode(json), signed: canonicalBytes(receipt) };
}

/** Writes the signature into `json`: constant work, whatever the length of the report. */
export function signReceipt({ json, signed }: Unsigned, key: KeyObject): void {
  const signature = sign(null, signed, key).toString('base64');
  Buffer.from(json.buffer, json.byteOffset, json.byteLength).write(
    signature,
    json.length - ending.length - signatureLength,
    'latin1',
  );
}

export function hasValidSignature({ signature, ...receipt }: Receipt, keys: readonly PublicKey[]): boolean {
  const key = keys.find(({ kid }) => kid === receipt.key_id);
  const bytes = Buffer.from(signature, 'base64');
  // Unused bits of the last character would be free to change.
  if (key === undefined || bytes.toString('base64') !== signature) return false;
  const { kty, crv, x } = key;
  const publicKey = createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
  return verify(null, canonicalBytes(receipt), publicKey, bytes);
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
