/** Callbacks in the form of the Standard Webhooks specification, so that its libraries verify them. */
import { createHmac } from 'node:crypto';
import { sendRequest } from './http-client.ts';

export type Delivery = {
  readonly id: string;
  readonly url: string;
  readonly body: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  readonly privateHosts: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Ends the call before its time. */
  readonly stop: AbortSignal;
};

const answerSeconds = 15;
const answerBytes = 65_536;
const gone = 410;

/** False when the other side wants no more of them. @throws Error when it was not heard and may be later */
export async function deliver({
  id,
  url,
  body,
  secret,
  privateHosts,
  now,
  stop,
}: Delivery): Promise<boolean> {
  const timestamp = String(Math.floor(now / 1000));
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'undertone',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': sign({ id, timestamp, body, secret }),
  };
  const limits = { privateHosts, seconds: answerSeconds, maxBytes: answerBytes, stop };
  const { status } = await sendRequest({ method: 'POST', url, headers, body, ...limits });
  if (status === gone) return false;
  if (status >= 200 && status < 300) return true;
  throw new Error(`Expected 2xx from the callback, got ${status}`);
}

/** HMAC-SHA256 over the id, the time and the body. */
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
