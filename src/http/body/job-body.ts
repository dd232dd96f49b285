/** Limits of the JSON body of POST /v1/jobs, and the check of its URLs. */
import type { JobSettings } from '../../runtime/config.ts';
import { invalidPart } from '../../runtime/errors.ts';
import type { BodyRules } from './json.ts';
import { nextIteration } from './next-iteration.ts';

/** Reasons that uploads share carry the prefix `audio.`. */
export const jobsRules: BodyRules = {
  maxBytes: 2 ** 18,
  reasonOf: (kind) => `${kind === 'channel' || kind === 'too_large' ? 'audio.' : ''}${kind}`,
};

/** URLs checked per iteration of the event loop. */
const urlsPerIteration = 100;

/** @throws ServiceError `invalid` for the first URL that is not allowed */
export async function checkUrls(urls: readonly string[], settings: JobSettings): Promise<void> {
  const { checkAudioUrl } = await import('../../jobs/remote-audio.ts');
  for (const [index, url] of urls.entries()) {
    if (index % urlsPerIteration === urlsPerIteration - 1) await nextIteration();
    const expected = checkAudioUrl(url, settings);
    if (expected === null) continue;
    throw invalidPart('urls', 'urls', `Expected ${expected} for \`urls[${index}]\`, got another`);
  }
}
