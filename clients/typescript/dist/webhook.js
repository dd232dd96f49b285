/** Callbacks of jobs, signed as in the Standard Webhooks specification; of servers alone, which have `node:crypto`. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { WebhookError } from "./errors.js";
const toleranceSeconds = 300;
/**
 * Returns the job of a callback. A callback may arrive twice: deduplicate by its `id`.
 * @param body as received, before it is parsed
 * @param secret `callback_secret` of the submitted job
 * @throws WebhookError for a wrong signature, or a timestamp that is 5 minutes away
 */
export function verifyWebhook(body, headers, secret) {
    const header = (name) => {
        const value = headers instanceof Headers ? headers.get(name) : headers[name];
        if (typeof value === 'string')
            return value;
        throw new WebhookError(`Expected the header ${name}, got none`);
    };
    const timestamp = header('webhook-timestamp');
    if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) {
        throw new WebhookError(`Expected a timestamp of the last ${toleranceSeconds} s, got ${timestamp}`);
    }
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    if (key.length === 0) {
        throw new WebhookError('Expected the callback secret of the job, got an empty or malformed one');
    }
    const hmac = createHmac('sha256', key)
        .update(`${header('webhook-id')}.${timestamp}.`)
        .update(body);
    const want = Buffer.from(`v1,${hmac.digest('base64')}`);
    const isSigned = header('webhook-signature')
        .split(' ')
        .map((signature) => Buffer.from(signature))
        .some((signature) => signature.length === want.length && timingSafeEqual(signature, want));
    if (!isSigned)
        throw new WebhookError('Expected a signature by the callback secret, got another');
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
}
