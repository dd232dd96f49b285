/** Responses that several routes share. */
import { createHash } from 'node:crypto';
import type { Context } from 'koa';

/** A response body that clients revalidate by its ETag. */
export type TaggedBody = { readonly bytes: string | Buffer; readonly type: string; readonly tag: string };

export function tagBody(bytes: string | Buffer, type: string): TaggedBody {
  return { bytes, type, tag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}

/** Sends 304 when the client has the current version. */
export function sendTagged(context: Context, { bytes, type, tag }: TaggedBody, cacheControl: string): void {
  context.set({ 'Content-Type': type, 'Cache-Control': cacheControl, ETag: tag });
  context.status = 200;
  if (context.fresh) context.status = 304;
  else context.body = bytes;
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
