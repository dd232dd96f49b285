/** Callbacks as in the Standard Webhooks specification. */
import { createHmac } from 'node:crypto';
import { sendRequest } from './http-client.ts';

type Delivery = {
  readonly id: string;
  readonly url: string;
  readonly body: string;
  /** `whsec_` followed by base64. */
  readonly secret: string;
  readonly privateHosts: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly signal: AbortSignal;
};

const timeoutSeconds = 15;
const maxResponseBytes = 65_536;
const gone = 410;

/** Returns false for 410, which ends delivery. @throws Error when a retry may succeed */
export async function deliver({
  id,
  url,
  body,
  secret,
  privateHosts,
  now,
  signal,
}: Delivery): Promise<boolean> {
  const timestamp = String(Math.floor(now / 1000));
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'undertone',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': sign({ id, timestamp, body, secret }),
  };
  const limits = { privateHosts, seconds: timeoutSeconds, maxBytes: maxResponseBytes, signal };
  const { status } = await sendRequest({ method: 'POST', url, headers, body, ...limits });
  if (status === gone) return false;
  if (status >= 200 && status < 300) return true;
  throw new Error(`Expected 2xx from the callback, got ${status}`);
}

export function sign(message: {
  readonly id: string;
  readonly timestamp: string;
  readonly body: string;
  readonly secret: string;
}): string {
  const key = Buffer.from(message.secret.replace(/^whsec_/, ''), 'base64');
  const text = `${message.id}.${message.timestamp}.${message.body}`;
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
}
