/** Pages, served from memory: those that `vite build web` wrote, /trust, /docs, the documents of the API and the documentation. */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import {
  combinedReportSchema,
  definitions,
  type Manifest,
  type Signal,
  signals,
} from '../../../engine/schema.ts';
import { readManifests, readOptionalJson } from '../../../node/models.ts';
import { listDocs, nameSets, readDoc, version } from '../../../node/paths.ts';
import { asyncApiDocument, openApiDocument } from '../../api/document.ts';
import { type Config, ConfigError } from '../../config.ts';
import type { ReceiptKeys } from '../../receipt-keys.ts';
import type { Trust } from '../../trust.ts';
import type { State } from '../context.ts';
import { unknownPath } from '../errors.ts';
import { requireKnownHost } from '../origins.ts';
import { sendShared, sendTagged, type TaggedBody, tagBody } from '../responses.ts';

export type Pages = {
  /** HTML by path, with `noncePlaceholder` where each response has its own nonce. */
  readonly documents: ReadonlyMap<string, string>;
  /** HTML of /trust without its content. */
  readonly trust: string;
  /** HTML of /docs without its content. */
  readonly docs: string;
  /** By file name, which contains a hash of the content. */
  readonly assets: ReadonlyMap<string, TaggedBody>;
};

export type StaticOptions = { readonly pages: Pages; readonly config: Pick<Config, 'publicUrl' | 'host'> };

/** Written by `web/vite.config.ts`. */
const noncePlaceholder = 'CSP_NONCE';
const contentPlaceholder = '<!-- content -->';
const documentFiles = { '/': 'index.html', '/account': 'account/index.html' };
/** In web/index.html. */
const placeholders = { example: '"EXAMPLE"', sets: '"SETS"' };
const exampleFile = 'sample.json';
const assetCaching = 'public, max-age=31536000, immutable';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wav': 'audio/wav',
};

type PageData = {
  /** The report that the playground shows before it has another; null: none. */
  readonly example: object | null;
  /** Names of two sets of models that the playground compares; null: it has one. */
  readonly sets: readonly [string, string] | null;
};

/** @param folder output of `vite build web` */
export async function readPages(folder: string, { example, sets }: PageData): Promise<Pages> {
  const documents = Object.entries(documentFiles).map(async ([path, file]) => {
    const html = await readFile(join(folder, file), 'utf8');
    const filled = html
      .replace(placeholders.example, () => scriptText(example))
      .replace(placeholders.sets, () => scriptText(sets));
    return [path, filled] as const;
  });
  const names = await readdir(join(folder, 'assets'));
  const assets = names.map(async (name) => [name, await readAsset(join(folder, 'assets', name))] as const);
  return {
    documents: new Map(await Promise.all(documents)),
    trust: await readFile(join(folder, 'trust', 'index.html'), 'utf8'),
    docs: await readFile(join(folder, 'docs', 'index.html'), 'utf8'),
    assets: new Map(await Promise.all(assets)),
  };
}

/** JSON that does not end the script element around it. */
function scriptText(value: object | null): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

/** @throws ConfigError for a second folder that holds no set */
export async function readSetNames({
  modelsDir,
  comparedModelsDir,
}: Pick<Config, 'modelsDir' | 'comparedModelsDir'>): Promise<PageData['sets']> {
  if (comparedModelsDir === null) return null;
  await readManifests(comparedModelsDir).catch((error: Error) => {
    throw new ConfigError([`${error.message} (\`UNDERTONE_COMPARE_MODELS_DIR\`)`]);
  });
  return nameSets(modelsDir, comparedModelsDir);
}

/**
 * Reads the report of examples/sample.wav that `npm run answers` wrote. Null without one, and with one of another release or of
 * other models, which is logged.
 */
export async function readExample(
  modelsDir: string,
  manifests: readonly Manifest[],
  logger: Pick<Logger, 'warn'>,
): Promise<object | null> {
  const report = await readOptionalJson(modelsDir, exampleFile);
  if (report === null) return null;
  const { success, data } = combinedReportSchema.safeParse(report);
  const isCurrent = (signal: Signal) => {
    const manifest = manifests.find(({ kind }) => kind === signal);
    return manifest !== undefined && data?.[signal].model.version === manifest.version;
  };
  // The parsed copy has its keys in another order.
  if (success && signals.every(isCurrent)) return report as object;
  logger.warn(
    { file: exampleFile },
    'the report of the sample is of other models or another release: the page has no example',
  );
  return null;
}

async function readAsset(file: string): Promise<TaggedBody> {
  const type = types[extname(file)];
  if (type === undefined) throw new Error(`Expected one of ${Object.keys(types).join(', ')}, got ${file}`);
  return tagBody(await readFile(file), type);
}

/** Pages use the cookies of accounts, so they require a known host. */
export function addStaticRoutes(router: Router<State>, { pages, config }: StaticOptions): void {
  const knownHost = requireKnownHost(config);
  for (const [path, html] of pages.documents) {
    const prepared = prepareDocument(html);
    router.get(path, knownHost, async function page(context) {
      sendDocument(context, prepared);
    });
  }
  router.get('/assets/:name', async function sendAsset(context) {
    const asset = pages.assets.get(context.params.name ?? '');
    if (asset === undefined) throw unknownPath(context);
    sendTagged(context, asset, assetCaching);
  });
}

function withContent(html: string, content: string): string {
  return html.replace(contentPlaceholder, () => content);
}

/** The parts of a page between its nonces. */
type PreparedDocument = readonly Buffer[];

function prepareDocument(html: string): PreparedDocument {
  return html.split(noncePlaceholder).map((part) => Buffer.from(part));
}

function sendDocument(context: Context, parts: PreparedDocument): void {
  const nonce = randomBytes(16).toString('base64');
  const nonceBytes = Buffer.from(nonce);
  context.set({
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': contentSecurityPolicy(nonce),
    'Permissions-Policy': 'microphone=(self)',
  });
  sendShared(
    context,
    parts.flatMap((part, index) => (index === 0 ? [part] : [nonceBytes, part])),
  );
}

/** wavesurfer.js styles its shadow tree with a nonce; scripts load from files only. */
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

// GET /trust: models, figures, failures, keys and retention of this service; GET /trust/NAME: its recordings.

type TrustRouteOptions = {
  readonly pages: Pages;
  readonly manifests: readonly Manifest[];
  readonly receiptKeys: ReceiptKeys;
  readonly config: Config;
};

type Served = { readonly document: PreparedDocument; readonly recordings: ReadonlyMap<string, TaggedBody> };

const recordingCaching = 'public, max-age=31536000, immutable';

/** The page is made at its first request: it takes longer than the start of the service. */
export function addTrustRoutes(router: Router<State>, options: TrustRouteOptions): void {
  let loading: Promise<Served> | null = null;
  const load = () => {
    loading ??= readPage(options).catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
  router.get('/trust', requireKnownHost(options.config), async function trust(context) {
    sendDocument(context, (await load()).document);
  });
  router.get('/trust/:name', async function trustRecording(context) {
    const recording = (await load()).recordings.get(context.params.name ?? '');
    if (recording === undefined) throw unknownPath(context);
    sendTagged(context, recording, recordingCaching);
  });
}

async function readPage({ pages, manifests, receiptKeys, config }: TrustRouteOptions): Promise<Served> {
  const { readTrust } = await import('../../trust.ts');
  const trust: Trust = await readTrust({ manifests, keys: receiptKeys.published, config });
  const recordings = [...trust.files].map(([name, bytes]) => [name, tagBody(bytes, 'audio/flac')] as const);
  return {
    document: prepareDocument(withContent(pages.trust, trust.content)),
    recordings: new Map(recordings),
  };
}

// GET /openapi.json, GET /asyncapi.json and GET /docs, which shows both.

export function addApiDocsRoutes(router: Router<State>, { pages, config }: StaticOptions): void {
  const add = (path: string, build: () => object) => {
    let content: TaggedBody | null = null;
    router.get(path, async function apiDocument(context) {
      // Built on the first request, so that it does not delay the start.
      content ??= tagBody(JSON.stringify(build()), 'application/json');
      sendTagged(context, content, 'no-cache');
    });
  };
  add('/openapi.json', () => openApiDocument(version));
  add('/asyncapi.json', () => asyncApiDocument(version));
  let document: PreparedDocument | null = null;
  router.get('/docs', requireKnownHost(config), async function apiPage(context) {
    if (document === null) {
      const page = await import('../../api/page.ts');
      document = prepareDocument(withContent(pages.docs, page.apiPage()));
    }
    sendDocument(context, document);
  });
}

// GET /docs/NAME.md: the documentation in Markdown, and GET /llms.txt, its index.

/** Its title, and the scores that the table of the command has. */
function describeSignal(signal: Signal): string {
  const { title, columns } = definitions[signal];
  const scores = columns
    .filter(({ table }) => table !== undefined)
    .map(({ name }) => name.replaceAll('_', ' '));
  return `${title} (${scores.join(', ')})`;
}

const introduction = `# Undertone

> A self-hosted service that analyses how a person speaks. Upload a recording to POST /v1/analyze with a Bearer token and get JSON:
> ${signals.map(describeSignal).join(' and ')} with intervals and reasons.

Send the recording as the part \`audio\` of a form: \`curl -H "Authorization: Bearer $TOKEN" -F audio=@recording.wav URL/v1/analyze\`.

## API

- [OpenAPI 3.1](/openapi.json): every HTTP operation, its schemas and examples
- [AsyncAPI 3.0](/asyncapi.json): messages of live sessions over WebSocket
- [Evidence cards](/v1/models): version, data, metrics and limits of each model

## Docs

`;

export function addDocsPagesRoutes(router: Router<State>): void {
  const names = listDocs();
  const add = (path: string, type: string, readText: () => string) => {
    let content: TaggedBody | null = null;
    router.get(path, async function docsPage(context) {
      content ??= tagBody(readText(), `text/${type}; charset=utf-8`);
      sendTagged(context, content, 'no-cache');
    });
  };
  for (const name of names) add(`/docs/${name}`, 'markdown', () => readDoc(name));
  add('/llms.txt', 'plain', () => introduction + names.map(entryOf).join(''));
}

function entryOf(name: string): string {
  const markdown = readDoc(name).replace(/^```.*?^```$/gms, '');
  const [, title = name] = /^# (.*)$/m.exec(markdown) ?? [];
  // The first paragraph that is text.
  const [paragraph = ''] = /^(?![#|>-])\S[^\n]*(?:\n[^\n]+)*/m.exec(markdown) ?? [];
  const [sentence = ''] = /^.*?[.:](?=\s|$)/s.exec(paragraph) ?? [paragraph];
  return `- [${title}](/docs/${name}): ${sentence.replace(/\s+/g, ' ').replace(/[.:]$/, '')}\n`;
}
