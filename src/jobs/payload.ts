/** Payload of a job in Redis: versioned, and encrypted because URLs may contain keys. */
import { z } from 'zod';
import { channelModes, defaultOptions } from '../analysis/types.ts';
import type { Cipher } from './encryption.ts';

/** Payloads of version 1 have no `version`. */
const version = 2;

const bytes = z.int().min(0);

/** Payloads of version 1 have the size of one `baseline`, or 0. */
const sizes = z
  .object({ audio: bytes, baselines: z.array(bytes).readonly().optional(), baseline: bytes.default(0) })
  .transform(({ audio, baselines, baseline }) => ({
    audio,
    baselines: baselines ?? (baseline > 0 ? [baseline] : []),
  }));

const fields = z.object({
  source: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('upload'), sizes }),
    z.object({ kind: z.literal('object'), url: z.string() }),
  ]),
  /** 0-based; null averages all channels. */
  channel: z.int().min(0).nullable(),
  channels: z.enum(channelModes).nullable().default(defaultOptions.channels),
  segments: z
    .array(z.object({ start: z.number(), end: z.number(), speaker: z.string() }))
    .readonly()
    .nullable()
    .default(null),
  callback: z.string().nullable(),
  /** Null: no receipt. `purpose`: that of the token. */
  receipt: z.object({ purpose: z.string().nullable() }).nullable().default(null),
  /** Whose usage the audio counts as; null in payloads of earlier releases. */
  usage: z.object({ token: z.string(), owner: z.string().nullable() }).nullable().default(null),
  /** `JobOwner.key`. */
  owner: z.string(),
  /** `JobStore.installationId` of the database with the job. */
  installation: z.string(),
  /** Set in callbacks of cancelled jobs, ms since 1970. */
  cancelledAt: z.number().nullable().default(null),
});

/** Redis has the owner as `holder`. */
const schema = z.preprocess(
  (json) => ({ ...(json as object), owner: (json as { holder?: unknown }).holder }),
  fields,
);

export type Payload = Readonly<z.output<typeof fields>>;

export type EncryptedPayload = { readonly sealed: string };

/** A later release wrote the payload; only its workers can process the job. */
export class NewerPayloadError extends Error {}

/** No release writes such a payload. */
export class PayloadError extends Error {}

export function encryptPayload(
  { owner: holder, ...payload }: z.input<typeof fields>,
  id: string,
  cipher: Cipher,
): EncryptedPayload {
  const json = JSON.stringify({ version, ...payload, holder });
  return { sealed: cipher.encrypt(Buffer.from(json), aadOf(id)).toString('base64') };
}

/** @throws NewerPayloadError, PayloadError */
export function decryptPayload({ sealed }: EncryptedPayload, id: string, cipher: Cipher): Payload {
  const json = parse(() => JSON.parse(cipher.decrypt(Buffer.from(sealed, 'base64'), aadOf(id)).toString()));
  const envelope = parse(() => z.looseObject({ version: z.int().min(1).default(1) }).parse(json));
  if (envelope.version > version) {
    throw new NewerPayloadError(
      `Expected a payload of version 1 to ${version}, got version ${envelope.version}`,
    );
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

/** As in version 1, which called the payload an order. */
function aadOf(id: string): string {
  return `${id}/order`;
}
