/** Payload of a job in Redis: versioned, and encrypted because URLs may contain keys; metadata of a job in the database. */
import { z } from 'zod';
import { channelModes, speakerModes } from '../../engine/index.ts';
import { ignoredSchema } from '../../engine/schema.ts';
import type { Metadata } from '../metadata.ts';
import type { Cipher } from './cipher.ts';

/** Increased with every change that workers of the release before cannot read. */
const version = 2;

const bytes = z.int().min(0);

const schema = z.object({
  source: z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('upload'),
      sizes: z.object({ audio: bytes, baselines: z.array(bytes).readonly() }),
    }),
    z.object({ kind: z.literal('object'), url: z.string() }),
  ]),
  /** 0-based; null averages all channels. */
  channel: z.int().min(0).nullable(),
  /** 0-based; null: the default one. Absent in payloads of version 1. */
  track: z.int().min(0).nullable().default(null),
  channels: z.enum(channelModes).nullable(),
  segments: z
    .array(z.object({ start: z.number(), end: z.number(), speaker: z.string() }))
    .readonly()
    .nullable(),
  speakers: z.enum(speakerModes).nullable(),
  declared: z.string().optional(),
  callback: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  /** Null: no receipt. `purpose`: that of the token. */
  receipt: z.object({ purpose: z.string().nullable() }).nullable(),
  /** Of the report. */
  ignored: ignoredSchema.optional(),
  /** Whose usage the audio counts as; null for no token. */
  usage: z.object({ token: z.string(), owner: z.string().nullable() }).nullable(),
  /** `JobOwner.key`. */
  owner: z.string(),
  /** `JobStore.installationId` of the database with the job. */
  installation: z.string(),
  /** Set in callbacks of cancelled jobs, ms since 1970. */
  cancelledAt: z.number().nullable(),
});

export type Payload = Readonly<z.infer<typeof schema>>;

export type EncryptedPayload = { readonly sealed: string };

/** A later release wrote the payload; only its workers can process the job. */
export class NewerPayloadError extends Error {}

/** No release writes such a payload. */
export class PayloadError extends Error {}

export function encryptPayload(payload: Payload, id: string, cipher: Cipher): EncryptedPayload {
  const json = JSON.stringify({ version, ...payload });
  return { sealed: cipher.encrypt(Buffer.from(json), aadOf(id)).toString('base64') };
}

/** For the callback of the job, which needs no segments. */
export function encryptCallback(payload: Payload, id: string, cipher: Cipher): EncryptedPayload {
  return encryptPayload({ ...payload, segments: null }, id, cipher);
}

/** For the database, which keeps it with the result. @returns null when it is empty */
export function encryptMetadata(metadata: Metadata, id: string, cipher: Cipher): string | null {
  if (Object.keys(metadata).length === 0) return null;
  return cipher.encrypt(Buffer.from(JSON.stringify(metadata)), `${id}/metadata`).toString('base64');
}

/** Returns an empty object for metadata of another secret. */
export function decryptMetadata(encrypted: string | null, id: string, cipher: Cipher): Metadata {
  if (encrypted === null) return {};
  try {
    return JSON.parse(cipher.decrypt(Buffer.from(encrypted, 'base64'), `${id}/metadata`).toString());
  } catch {
    return {};
  }
}

/** @throws NewerPayloadError, PayloadError */
export function decryptPayload({ sealed }: EncryptedPayload, id: string, cipher: Cipher): Payload {
  const json = parse(() => JSON.parse(cipher.decrypt(Buffer.from(sealed, 'base64'), aadOf(id)).toString()));
  const envelope = parse(() => z.looseObject({ version: z.int().min(1) }).parse(json));
  if (envelope.version > version) {
    throw new NewerPayloadError(`Expected a payload of version ${version}, got version ${envelope.version}`);
  }
  return parse(() => schema.parse(json));
}

function parse<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (cause) {
    throw new PayloadError('Expected the payload of a job, got something else', { cause });
  }
}

function aadOf(id: string): string {
  return `${id}/payload`;
}
