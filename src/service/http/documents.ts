/** HTML documents from memory: each response has its own nonce. */
import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import { sendShared } from './responses.ts';

/** Written by `web/vite.config.ts`. */
const noncePlaceholder = 'CSP_NONCE';
const contentPlaceholder = '<!-- content -->';

export function withContent(html: string, content: string): string {
  return html.replace(contentPlaceholder, () => content);
}

/** The parts of a page between its nonces. */
export type PreparedDocument = readonly Buffer[];

export function prepareDocument(html: string): PreparedDocument {
  return html.split(noncePlaceholder).map((part) => Buffer.from(part));
}

/** @param images sources of images in its policy */
export function sendDocument(context: Context, parts: PreparedDocument, images = "'self'"): void {
  const nonce = randomBytes(16).toString('base64');
  const nonceBytes = Buffer.from(nonce);
  context.set({
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': contentSecurityPolicy(nonce, images),
    'Permissions-Policy': 'microphone=(self)',
  });
  sendShared(
    context,
    parts.flatMap((part, index) => (index === 0 ? [part] : [nonceBytes, part])),
  );
}

/** wavesurfer.js styles its shadow tree with a nonce; scripts load from files only. */
function contentSecurityPolicy(nonce: string, images: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src ${images}`,
    "connect-src 'self'",
    'media-src blob:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
