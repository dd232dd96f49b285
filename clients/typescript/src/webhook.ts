/** Callbacks of jobs, signed as in the Standard Webhooks specification. */
import { WebhookError } from './errors.ts';
import type { JobEvent } from './reports.ts';

/** Of `fetch`, or of a request of Node. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const toleranceSeconds = 300;

/**
 * Returns the job of a callback. A callback may arrive twice: deduplicate by its `id`.
 * @param body as received, before it is parsed
 * @param secret `callback_secret` of the submitted job
 * @throws WebhookError for a wrong signature, or a timestamp that is 5 minutes away
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
): Promise<JobEvent> {
  const header = (name: string) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    if (typeof value === 'string') return value;
    throw new WebhookError(`Expected the header ${name}, got none`);
  };
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const timestamp = header('webhook-timestamp');
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) {
    throw new WebhookError(`Expected a timestamp of the last ${toleranceSeconds} s, got ${timestamp}`);
  }
  const signed = new TextEncoder().encode(`${header('webhook-id')}.${timestamp}.${text}`);
  // Node 18 has it in a module alone.
  const { subtle } = globalThis.crypto ?? (await import(/* webpackIgnore: true */ 'node:crypto')).webcrypto;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const secretBytes = bytesOf(secret.replace(/^whsec_/, ''));
  if (secretBytes.length === 0)
    throw new WebhookError('Expected the callback secret of the job, got an empty or malformed one');
  const key = await subtle.importKey('raw', secretBytes, algorithm, false, ['verify']);
  for (const signature of header('webhook-signature').split(' ')) {
    if (!signature.startsWith('v1,')) continue;
    if (await subtle.verify('HMAC', key, bytesOf(signature.slice(3)), signed))
      return JSON.parse(text) as JobEvent;
  }
  throw new WebhookError('Expected a signature by the callback secret, got another');
}

/** Empty for text that is no base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
