/** The built pages and what they load, from memory. */
import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { unknownPath } from '../middleware/errors.ts';
import type { State } from '../state.ts';

type Asset = { readonly bytes: Buffer; readonly type: string; readonly tag: string };

export type Pages = {
  /** By path: HTML with `nonceMark` where each answer has a nonce of its own. */
  readonly documents: ReadonlyMap<string, string>;
  /** By file name; the name holds a hash of the content. */
  readonly assets: ReadonlyMap<string, Asset>;
};

/** As `web/vite.config.ts` writes it. */
const noncePlaceholder = 'CSP_NONCE';
const documentFiles = { '/': 'index.html', '/account': 'account/index.html' };
const year = 31_536_000;

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wav': 'audio/wav',
};

/** @param folder what `vite build web` wrote */
export async function readPages(folder: string): Promise<Pages> {
  const documents = Object.entries(documentFiles).map(
    async ([path, file]) => [path, await readFile(join(folder, file), 'utf8')] as const,
  );
  const names = await readdir(join(folder, 'assets'));
  const assets = names.map(async (name) => [name, await readAsset(join(folder, 'assets', name))] as const);
  return { documents: new Map(await Promise.all(documents)), assets: new Map(await Promise.all(assets)) };
}

async function readAsset(file: string): Promise<Asset> {
  const type = types[extname(file)];
  if (type === undefined) throw new Error(`Expected one of ${Object.keys(types).join(', ')}, got ${file}`);
  const bytes = await readFile(file);
  return { bytes, type, tag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}

/** @param knownHost refuses other hosts: the pages use the cookies of accounts */
export function addStaticRoutes(router: Router<State>, pages: Pages, knownHost: Middleware<State>): void {
  for (const [path, html] of pages.documents) {
    router.get(path, knownHost, async function page(context) {
      sendDocument(context, html);
    });
  }
  router.get('/assets/:name', async function asset(context) {
    const found = pages.assets.get(context.params.name ?? '');
    if (found === undefined) throw unknownPath();
    sendAsset(context, found);
  });
}

function sendDocument(context: Context, html: string): void {
  const nonce = randomBytes(16).toString('base64');
  context.set({
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': contentSecurityPolicy(nonce),
    'Permissions-Policy': 'microphone=(self)',
  });
  context.body = html.replaceAll(noncePlaceholder, nonce);
}

/** The nonce lets the waveform style its own shadow tree; scripts come from files alone. */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "connect-src 'self'",
    'media-src blob:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function sendAsset(context: Context, { bytes, type, tag }: Asset): void {
  context.set({ 'Content-Type': type, 'Cache-Control': `public, max-age=${year}, immutable`, ETag: tag });
  context.status = 200;
  if (context.fresh) context.status = 304;
  else context.body = bytes;
}
