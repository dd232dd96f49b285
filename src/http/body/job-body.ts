/** The JSON body of POST /v1/jobs: recordings to fetch by URL. */
import { z } from 'zod';
import type { JobSettings } from '../../runtime/config.ts';
import { invalidPart } from '../../runtime/errors.ts';
import type { BodyRules } from './json.ts';
import { createTurns } from './turns.ts';

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

/** Reasons that uploads share carry the prefix `audio.`. */
export const jobsRules: BodyRules = {
  maxBytes: 2 ** 18,
  reasonOf: (kind) => `${kind === 'channel' || kind === 'too_large' ? 'audio.' : ''}${kind}`,
};

/** URLs checked per turn of the event loop. */
const urlsPerTurn = 100;
const nextTurn = createTurns();

/** @throws ServiceError `invalid` for the first URL that is not allowed */
export async function checkUrls(urls: readonly string[], settings: JobSettings): Promise<void> {
  const { checkAudioUrl } = await import('../../jobs/remote-audio.ts');
  for (const [index, url] of urls.entries()) {
    if (index % urlsPerTurn === urlsPerTurn - 1) await nextTurn();
    const expected = checkAudioUrl(url, settings);
    if (expected === null) continue;
    throw invalidPart('urls', 'urls', `Expected ${expected} for \`urls[${index}]\`, got another`);
  }
}
