/** A job, or many, for recordings that lie somewhere else: the JSON that asks for them. */
import { z } from 'zod';
import type { BodyRules } from './json.ts';

export const maxUrls = 1000;

const list = `1 to ${maxUrls} addresses`;
const address = 'addresses as text';

export const jobsBody = z.strictObject({
  urls: z
    .array(z.string({ error: address }).max(2048, { error: address }), { error: list })
    .min(1, { error: list })
    .max(maxUrls, { error: list }),
  channel: z
    .int({ error: 'the number of a channel' })
    .min(0, { error: 'the number of a channel' })
    .max(9999, { error: 'the number of a channel' })
    .nullable()
    .default(null),
  callback: z.string({ error: 'an address' }).nullable().default(null),
});

/** What uploads know too is told as of them. */
export const jobsRules: BodyRules = {
  maxBytes: 2 ** 18,
  reasonOf: (kind) => `${kind === 'channel' || kind === 'too_large' ? 'audio.' : ''}${kind}`,
};
