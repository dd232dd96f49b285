/** The JSON body of POST /v1/jobs: recordings to fetch by URL. */
import { z } from 'zod';

export const maxUrls = 1000;

const listError = `1 to ${maxUrls} addresses`;
const urlError = 'addresses as text';
const channelError = 'the number of a channel';

export const jobsBody = z.strictObject({
  urls: z
    .array(z.string({ error: urlError }).max(2048, { error: urlError }), { error: listError })
    .min(1, { error: listError })
    .max(maxUrls, { error: listError }),
  channel: z
    .int({ error: channelError })
    .min(0, { error: channelError })
    .max(9999, { error: channelError })
    .nullable()
    .default(null),
  callback: z.string({ error: 'an address' }).nullable().default(null),
});
