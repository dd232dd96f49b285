/** The receipt of a report: what was analysed, with what, and the signature of the service. */
import { z } from 'zod';
import { maxBaselines } from './options.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const version = z.string().min(1);

export const ignoredSchema = z
  .array(
    z
      .strictObject({
        name: z
          .string()
          .regex(/^[\w.[\]?-]{0,64}$/)
          .describe('Its name: the first 64 characters, others than A-Z a-z 0-9 _ . - [ ] as ?.'),
        msg: z.string().describe('What it is, and the name that was probably meant.'),
      })
      .describe('A form part or a query parameter.'),
  )
  .min(1)
  .max(10)
  .describe(
    'Form parts and query parameters that this path does not have, at most ten. Absent when there are none.',
  );

export type Ignored = z.infer<typeof ignoredSchema>;

const softwareSchema = z
  .strictObject({
    undertone: version.describe('Version of Undertone.'),
    node: version.describe('Version of Node.js.'),
    addon_sha256: hash.describe('SHA-256 of the native addon: decoding, resampling and features.'),
    features_version: z.int().describe('As `model.features_version` of the report.'),
    models: z
      .array(z.strictObject({ name: z.string(), version, sha256: hash }))
      .describe(
        'Every model; `sha256` is that of its manifest in canonical form, which has the hashes of its files.',
      ),
    libraries: z
      .record(z.string(), version)
      .describe('Versions of libavformat, libavcodec, libavutil, soxr and onnxruntime.'),
    kernel: z
      .strictObject({
        architecture: z.string().describe('`x64` or `arm64`.'),
        lanes: z.int().describe('Frames that the features compute side by side: 4, 8 or 16.'),
        exact_int8: z.boolean().describe('Whether the processor multiplies int8 without saturation (VNNI).'),
      })
      .describe('The code path of the processor. Others differ in the last digits.'),
  })
  .describe('Versions of everything that computes a score.');

export const receiptSchema = z
  .strictObject({
    version: z.int().min(1).max(1).describe('Version of the format.'),
    issued_at: z.iso.datetime().describe('When the report was made, UTC.'),
    purpose: z
      .string()
      .nullable()
      .describe('What the scores are for, as declared with the token; null without a declaration.'),
    key_id: z.string().describe('`kid` of the key in /.well-known/undertone-keys.json.'),
    upload_sha256: hash.describe('SHA-256 of the bytes of the part `audio`.'),
    baselines_sha256: z
      .array(hash)
      .max(maxBaselines)
      .describe('SHA-256 of the bytes of each part `baseline`, in their order.'),
    segments_sha256: hash
      .nullable()
      .describe('SHA-256 of `segments` in canonical form; null without the part.'),
    samples_sha256: z
      .array(hash)
      .min(1)
      .describe('SHA-256 of the decoded samples, 16 kHz float32, little-endian: one per analysed channel.'),
    report_sha256: hash.describe(
      'SHA-256 of the report in canonical form (RFC 8785), without `receipt` and every `request_id`.',
    ),
    options: z
      .strictObject({
        signals: z.array(z.string()).min(1).describe('Requested signals.'),
        channel: z.int().nullable().describe('0-based channel; null averages all.'),
        track: z.int().optional().describe('0-based audio track; absent without the part.'),
        channels: z.string().nullable().describe('`split`, or null.'),
        speakers: z.string().nullable().describe('`2` to `6`, `auto`, or null.'),
        ignored: ignoredSchema.optional(),
      })
      .describe('Parts of the form, null where absent.'),
    scores: z
      .array(z.record(z.string(), z.looseObject({})))
      .min(1)
      .describe('`signals` of each signal, per report: one, or one per channel or speaker.'),
    software: softwareSchema,
    signature: z
      .string()
      .regex(/^[A-Za-z0-9+/]{86}==$/)
      .describe('Ed25519 signature of the other fields in canonical form, base64.'),
  })
  .describe('With the part `receipt` = `true`: what can be checked later with `undertone verify`.');

export type Receipt = z.infer<typeof receiptSchema>;
export type UnsignedReceipt = Omit<Receipt, 'signature'>;
export type Software = Receipt['software'];
