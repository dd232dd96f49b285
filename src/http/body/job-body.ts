/** A job, or many, for recordings that lie somewhere else: the JSON that asks for them. */
import { z } from 'zod';
import type { JobSettings } from '../../runtime/config.ts';
import { invalidPart } from '../../runtime/errors.ts';
import type { BodyRules } from './json.ts';
import { createTurns } from './turns.ts';

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

/** URLs that are checked in one turn of the event loop. */
const urlsPerTurn = 100;
const nextTurn = createTurns();

/** @throws Failure `invalid` for the first URL that is not allowed */
export async function checkUrls(urls: readonly string[], settings: JobSettings): Promise<void> {
  const { checkAudioUrl } = await import('../../jobs/remote-audio.ts');
  for (const [index, url] of urls.entries()) {
    if (index % urlsPerTurn === urlsPerTurn - 1) await nextTurn();
    const expected = checkAudioUrl(url, settings);
    if (expected === null) continue;
    throw invalidPart('urls', 'urls', `Expected ${expected} for \`urls[${index}]\`, got another`);
  }
}
