/** Keys that sign receipts: a private file of JSON Web Keys (RFC 8037, Ed25519). */

import { createPrivateKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { ensureDir, writeWhole } from '../node/files.ts';
import { parseUnambiguous } from './canonical-json.ts';
import { type Config, ConfigError } from './config.ts';
import { sha256 } from './sha256.ts';

/** In the data folder. */
export const receiptKeysFile = 'receipt-keys.json';

const base64url = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** As published. */
export const publicKeySchema = z
  .strictObject({
    kty: z.literal('OKP').describe('Octet key pair.'),
    crv: z.literal('Ed25519').describe('The curve.'),
    kid: z.string().min(1).describe('`key_id` of receipts.'),
    x: base64url.describe('The public key, base64url.'),
    signs_from: z.iso.datetime().describe('The key signs from here until the next one does, UTC.'),
  })
  .describe('A JSON Web Key (RFC 8037).');

export const publicKeysSchema = z
  .strictObject({ keys: z.array(publicKeySchema).describe('Every key, retired ones too, oldest first.') })
  .describe('The public keys of receipts.');

export type PublicKey = z.infer<typeof publicKeySchema>;

/** Keys as a service publishes them. @throws Error for anything else */
export function parsePublicKeys(bytes: Uint8Array): readonly PublicKey[] {
  return publicKeysSchema.parse(parseUnambiguous(bytes)).keys;
}

/** Retired keys have no `d`. */
const storedKeys = z.strictObject({
  keys: z.array(publicKeySchema.extend({ d: base64url.optional() })).min(1),
});
type StoredKey = z.infer<typeof storedKeys>['keys'][number];

export type SigningKey = { readonly id: string; readonly key: KeyObject };

export type ReceiptKeys = ReturnType<typeof openKeys>;

/**
 * The keys of these settings. They are created for a single host alone: hosts that share Redis, PostgreSQL or a named file
 * would sign with keys of their own.
 * @throws ConfigError
 */
export function openReceiptKeys({
  dataDir,
  receiptKeys,
  databaseUrl,
  redisUrl,
}: Pick<Config, 'dataDir' | 'receiptKeys' | 'databaseUrl' | 'redisUrl'>): Promise<ReceiptKeys> {
  const path = receiptKeys ?? join(dataDir, receiptKeysFile);
  const single = receiptKeys === null && redisUrl === null && databaseUrl.startsWith('file:');
  return single ? loadOrCreateKeys(path) : loadKeys(path);
}

/** Safe for processes that start together: one creates the file and all read it. @throws ConfigError */
export async function loadOrCreateKeys(path: string): Promise<ReceiptKeys> {
  if ((await readText(path)) === null) await writeKeys(path, [createKey(new Date())], { replace: false });
  return openKeys(await readKeys(path));
}

/** @throws ConfigError for a file that is missing or has no private key */
export async function loadKeys(path: string): Promise<ReceiptKeys> {
  return openKeys(await readKeys(path));
}

/**
 * Adds a key, and removes the private part of keys that neither sign now nor will. Creates the file.
 * @returns the published keys
 * @throws ConfigError
 */
export async function addKey(path: string, signsFrom: Date): Promise<readonly PublicKey[]> {
  const now = Date.now();
  const known = (await readText(path)) === null ? [] : await readKeys(path);
  const current = currentOf(known, now);
  const kept = known.map((key) => {
    const retired = key !== current && startOf(key) <= now;
    return retired ? publicPart(key) : key;
  });
  const keys = [...kept, createKey(signsFrom)].sort((one, other) => startOf(one) - startOf(other));
  await writeKeys(path, keys, { replace: true });
  return keys.map(publicPart);
}

/** @throws ConfigError */
export async function readPublicKeys(path: string): Promise<readonly PublicKey[]> {
  return (await readKeys(path)).map(publicPart);
}

/** @param now ms since 1970 */
export function openKeys(keys: readonly StoredKey[], now: () => number = Date.now) {
  const opened = new Map<StoredKey, SigningKey>(
    keys
      .filter(({ d }) => d !== undefined)
      .map((key) => [key, { id: key.kid, key: createPrivateKey({ key: jwkOf(key), format: 'jwk' }) }]),
  );
  const newest = [...opened.values()].at(-1);
  if (newest === undefined)
    throw new ConfigError(['Expected a private key in UNDERTONE_RECEIPT_KEYS, got public keys alone']);
  return {
    /** The key that signs now; the newest when the clock is behind the start of every key. */
    current: () => opened.get(currentOf(keys, now()) as StoredKey) ?? newest,
    /** Whether the clock is behind the start of every key. */
    isEarly: () => currentOf(keys, now()) === undefined,
    /** Every public key, retired ones too, oldest first. */
    published: keys.map(publicPart) as readonly PublicKey[],
  };
}

/** The last key that has started. */
function currentOf(keys: readonly StoredKey[], now: number): StoredKey | undefined {
  return keys.findLast((key) => key.d !== undefined && startOf(key) <= now);
}

const startOf = ({ signs_from }: StoredKey) => Date.parse(signs_from);

function publicPart({ d: _, ...key }: StoredKey): PublicKey {
  return key;
}

function jwkOf({ kty, crv, x, d }: StoredKey): JsonWebKey {
  return { kty, crv, x, ...(d !== undefined && { d }) };
}

function createKey(signsFrom: Date): StoredKey {
  const { x, d } = generateKeyPairSync('ed25519').privateKey.export({
    format: 'jwk',
  }) as Required<JsonWebKey>;
  const kid = sha256(Buffer.from(x, 'base64url')).slice(0, 16);
  return { kty: 'OKP', crv: 'Ed25519', kid, x, signs_from: signsFrom.toISOString(), d };
}

async function writeKeys(
  path: string,
  keys: readonly StoredKey[],
  options: { readonly replace: boolean },
): Promise<void> {
  ensureDir(dirname(path));
  await writeWhole(path, `${JSON.stringify({ keys }, null, 2)}\n`, options);
}

async function readKeys(path: string): Promise<StoredKey[]> {
  const text = await readText(path);
  if (text === null) {
    const once = 'create it once with `undertone keys create`, the same for all hosts and workers';
    throw new ConfigError([
      `Expected a file of receipt keys (UNDERTONE_RECEIPT_KEYS), got none at ${path}: ${once}`,
    ]);
  }
  try {
    return storedKeys.parse(JSON.parse(text)).keys;
  } catch {
    // The cause may quote a private key.
    throw new ConfigError([
      `Expected the keys that \`undertone keys create\` writes, got another file: ${path}`,
    ]);
  }
}

async function readText(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}
