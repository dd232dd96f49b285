/** Responses that several routes share: JSON, and bodies with an ETag. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Context } from 'koa';

/** A response body that clients revalidate by its ETag. */
export type TaggedBody = { readonly bytes: Buffer; readonly type: string; readonly tag: string };

export function tagBody(content: string | Buffer, type: string): TaggedBody {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return { bytes, type, tag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}

const sliceBytes = 65_536;

/** Lets the event loop turn after each slice: the kernel may take all of them at once. */
async function* slicesOf(parts: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    for (let at = 0; at < part.length; at += sliceBytes) {
      yield part.subarray(at, at + sliceBytes);
      await setImmediate();
    }
  }
}

/** Sends bytes that responses share, without a copy: one slice at a time waits for the client. */
export function sendShared(context: Context, parts: readonly Buffer[]): void {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  const isLong = bytes > sliceBytes;
  context.body = isLong ? Readable.from(slicesOf(parts), { objectMode: false }) : Buffer.concat(parts);
  context.length = bytes;
}

/** Sends 304 when the client has the current version. */
export function sendTagged(context: Context, { bytes, type, tag }: TaggedBody, cacheControl: string): void {
  context.set({ 'Content-Type': type, 'Cache-Control': cacheControl, ETag: tag });
  context.status = 200;
  if (context.fresh) context.status = 304;
  else sendShared(context, [bytes]);
}

/** Sends serialized JSON. */
export function sendJson(context: Context, json: string): void {
  context.set('Content-Type', 'application/json');
  context.body = json;
}

/** Sends JSON that no cache may store. A string is serialized JSON. */
export function sendPrivateJson(context: Context, body: object | string): void {
  context.set('Cache-Control', 'no-store');
  sendJson(context, typeof body === 'string' ? body : JSON.stringify(body));
}
