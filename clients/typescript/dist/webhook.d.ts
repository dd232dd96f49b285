import type { JobEvent } from './reports.ts';
/** Of `fetch`, or of a request of Node. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
/**
 * Returns the job of a callback. A callback may arrive twice: deduplicate by its `id`.
 * @param body as received, before it is parsed
 * @param secret `callback_secret` of the submitted job
 * @throws WebhookError for a wrong signature, or a timestamp that is 5 minutes away
 */
export declare function verifyWebhook(body: string | Uint8Array, headers: WebhookHeaders, secret: string): JobEvent;
