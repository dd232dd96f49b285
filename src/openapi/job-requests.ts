/** The JSON body of POST /v1/jobs: recordings to fetch by URL. */
import { z } from 'zod';
import { channelModes, defaultOptions } from '../analysis/speakers.ts';
import { expectedMetadata, isMetadata, type Metadata } from '../multipart/form.ts';

const maxUrls = 1000;

const listError = `1 to ${maxUrls} addresses`;
const urlError = 'addresses as text';
const channelError = 'the number of a channel';

export const jobsBody = z.strictObject({
  urls: z
    .array(z.string({ error: urlError }).max(2048, { error: urlError }), { error: listError })
    .min(1, { error: listError })
    .max(maxUrls, { error: listError })
    .describe(
      `URLs of the recordings, at most ${maxUrls}, in at most 256 KiB of JSON; each starts with an allowed prefix.`,
    ),
  channel: z
    .int({ error: channelError })
    .min(0, { error: channelError })
    .max(9999, { error: channelError })
    .nullable()
    .default(null)
    .describe('0-based index of the channel to analyse; null for the average of all.'),
  channels: z
    .enum(channelModes, { error: channelModes.join(' or ') })
    .nullable()
    .default(defaultOptions.channels)
    .describe('`split`: one report per channel of recordings with two; `channel` is then null.'),
  receipt: z
    .boolean({ error: 'true or false' })
    .default(false)
    .describe('Whether each report has a signed `receipt`.'),
  callback: z
    .string({ error: 'an address' })
    .nullable()
    .default(null)
    .describe('URL that receives each finished job: https, on a public host; null for none.'),
  metadata: z
    .unknown()
    .refine(isMetadata, { error: `${expectedMetadata},` })
    .transform((value) => value as Metadata)
    .meta({ type: 'object', additionalProperties: { type: 'string' } })
    .default({})
    .describe(`Data of the client, returned with each job: ${expectedMetadata}.`),
});
