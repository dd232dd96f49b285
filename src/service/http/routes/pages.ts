/** Pages, served from memory: those that `vite build web` wrote, /trust, the documents of the API and the documentation. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { ModelError } from '../../../engine/index.ts';
import { combinedReportSchema, type Manifest } from '../../../engine/schema.ts';
import { readOptionalJson } from '../../../node/models.ts';
import { listDocs, readDoc, swaggerFolder, version } from '../../../node/paths.ts';
import { asyncApiDocument, openApiDocument } from '../../api/document.ts';
import type { Config } from '../../config.ts';
import type { ReceiptKeys } from '../../receipts.ts';
import type { Trust } from '../../trust.ts';
import { type State, sendTagged, type TaggedBody, tagBody } from '../context.ts';
import { unknownPath } from '../errors.ts';
import { requireKnownHost } from '../origins.ts';

export type Pages = {
  /** HTML by path, with `noncePlaceholder` where each response has its own nonce. */
  readonly documents: ReadonlyMap<string, string>;
  /** HTML of /trust without its content. */
  readonly trust: string;
  /** By file name, which contains a hash of the content. */
  readonly assets: ReadonlyMap<string, TaggedBody>;
};

export type StaticOptions = { readonly pages: Pages; readonly config: Pick<Config, 'publicUrl' | 'host'> };

/** Written by `web/vite.config.ts`. */
const noncePlaceholder = 'CSP_NONCE';
const documentFiles = { '/': 'index.html', '/account': 'account/index.html' };
/** In web/index.html. */
const examplePlaceholder = '"EXAMPLE"';
const exampleFile = 'sample.json';
const assetCaching = 'public, max-age=31536000, immutable';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wav': 'audio/wav',
};

/**
 * @param folder output of `vite build web`
 * @param example report that the playground shows before it has another; null: none
 */
export async function readPages(folder: string, example: object | null): Promise<Pages> {
  const documents = Object.entries(documentFiles).map(async ([path, file]) => {
    const html = await readFile(join(folder, file), 'utf8');
    return [path, html.replace(examplePlaceholder, () => scriptText(example))] as const;
  });
  const names = await readdir(join(folder, 'assets'));
  const assets = names.map(async (name) => [name, await readAsset(join(folder, 'assets', name))] as const);
  return {
    documents: new Map(await Promise.all(documents)),
    trust: await readFile(join(folder, 'trust', 'index.html'), 'utf8'),
    assets: new Map(await Promise.all(assets)),
  };
}

/** JSON that does not end the script element around it. */
function scriptText(value: object | null): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

/** Reads the report of examples/sample.wav that `npm run answers` wrote; null without one. @throws ModelError */
export async function readExample(modelsDir: string): Promise<object | null> {
  const report = await readOptionalJson(modelsDir, exampleFile);
  if (report === null) return null;
  const read = combinedReportSchema.safeParse(report);
  // The parsed copy has its keys in another order.
  if (read.success) return report as object;
  const [issue] = read.error.issues;
  throw new ModelError(
    `${exampleFile}: Expected a report of POST /v1/analyze, got a fault in \`${issue?.path.join('.')}\``,
  );
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
    router.get(path, knownHost, async function page(context) {
      sendDocument(context, html);
    });
  }
  router.get('/assets/:name', async function sendAsset(context) {
    const asset = pages.assets.get(context.params.name ?? '');
    if (asset === undefined) throw unknownPath(context);
    sendTagged(context, asset, assetCaching);
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

type Served = { readonly html: string; readonly recordings: ReadonlyMap<string, TaggedBody> };

const contentPlaceholder = '<!-- content -->';
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
    sendDocument(context, (await load()).html);
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
    html: pages.trust.replace(contentPlaceholder, () => trust.content),
    recordings: new Map(recordings),
  };
}

// GET /openapi.json, GET /asyncapi.json and GET /docs, which renders it with Swagger UI.

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Undertone API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/contrast.css">
<link rel="stylesheet" href="/docs/page.css">
</head>
<body>
<header class="site">
<a class="brand" href="/">Undertone</a>
<nav aria-label="Site">
<a href="/">Playground</a>
<a href="/account">Account</a>
<a href="/docs" aria-current="page">API</a>
</nav>
</header>
<main>
<section class="first" aria-labelledby="first-title">
<h1 id="first-title">The first request</h1>
<p>Create a token on the <a href="/account">account page</a>, put it into UNDERTONE_TOKEN and send a recording:</p>
<pre tabindex="0"><code>curl -H "Authorization: Bearer $UNDERTONE_TOKEN" -F audio=@recording.wav <span id="origin"></span>/v1/analyze</code></pre>
</section>
<div id="reference"></div>
</main>
<noscript>This page needs JavaScript. <a href="/openapi.json">The document it shows</a> does not.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script type="module" src="/docs/start.js"></script>
</body>
</html>
`;

const start = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
document.getElementById('origin').textContent = location.origin;
/** Programs need no account routes: the document has them, this page hides them. */
const withoutAccounts = (spec) => {
  const shown = Object.entries(spec.paths).filter(([path]) => !path.startsWith('/account/'));
  return { ...spec, paths: Object.fromEntries(shown) };
};
const response = await fetch('/openapi.json');
SwaggerUIBundle({
  spec: withoutAccounts(await response.json()),
  domNode: document.getElementById('reference'),
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  // The document lists one server: the menu is hidden.
  plugins: [() => ({ wrapComponents: { ServersContainer: () => () => null } })],
});
`;

/** Swagger UI's light colours do not reach the contrast of WCAG AA. */
const contrast = `html:not(.dark-mode) .swagger-ui .opblock-get .opblock-summary-method { background: #1b5e9e; }
html:not(.dark-mode) .swagger-ui .opblock-post .opblock-summary-method { background: #14704a; }
html:not(.dark-mode) .swagger-ui .opblock-delete .opblock-summary-method { background: #b3261e; }
html:not(.dark-mode) .swagger-ui .info .title small { background: #4c5254; }
html:not(.dark-mode) .swagger-ui .info .title small.version-stamp { background: #14704a; }
html:not(.dark-mode) .swagger-ui .info a { color: #1b5e9e; }
html:not(.dark-mode) .swagger-ui .info .url { color: #1b5e9e; }
html:not(.dark-mode) .swagger-ui .btn.authorize { border-color: #14704a; color: #14704a; }
html:not(.dark-mode) .swagger-ui .btn.authorize svg { fill: #14704a; }
`;

/** The colours of web/styles/tokens.css. */
const pageStyle = `:root { color-scheme: light dark; --text: #14201e; --accent: #0d666b; --line: #d8dfde; --sunken: #edf1f1; }
.dark-mode { --text: #e7eeec; --accent: #62cbc7; --line: #2c3735; --sunken: #1e2725; }
body { margin: 0; color: var(--text); font: 1rem / 1.55 system-ui, sans-serif; }
.site, .first { max-width: 72rem; margin-inline: auto; padding: 1rem clamp(1rem, 4vw, 2rem); }
#reference { max-width: 76rem; margin-inline: auto; }
.site { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .5rem 1.5rem; }
.site a { color: var(--text); text-decoration: none; font-weight: 550; }
.site nav { display: flex; gap: 1.5rem; }
.site a[aria-current] { color: var(--accent); }
.site .brand { font-size: 1.125rem; font-weight: 680; }
.first a { color: var(--accent); }
.first pre { overflow-x: auto; padding: 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--sunken); }
`;

/** Swagger UI's style sheet holds its icons as data: images. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const swaggerFiles = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;

export function addApiDocsRoutes(router: Router<State>): void {
  const add = (path: string, type: string, read: () => string | Buffer) => {
    let content: TaggedBody | null = null;
    router.get(path, async function apiDocs(context) {
      // Built or read on the first request, so that it does not delay the start.
      content ??= tagBody(read(), type);
      context.set('Content-Security-Policy', policy);
      sendTagged(context, content, 'no-cache');
    });
  };
  add('/openapi.json', 'application/json', () => JSON.stringify(openApiDocument(version)));
  add('/asyncapi.json', 'application/json', () => JSON.stringify(asyncApiDocument(version)));
  add('/docs', 'text/html; charset=utf-8', () => page);
  add('/docs/contrast.css', 'text/css; charset=utf-8', () => contrast);
  add('/docs/page.css', 'text/css; charset=utf-8', () => pageStyle);
  add('/docs/start.js', 'text/javascript; charset=utf-8', () => start);
  for (const [name, type] of Object.entries(swaggerFiles)) {
    add(`/docs/${name}`, type, () => readFileSync(new URL(name, swaggerFolder)));
  }
}

// GET /docs/NAME.md: the documentation in Markdown, and GET /llms.txt, its index.

const introduction = `# Undertone

> A self-hosted service that analyses how a person speaks. Upload a recording to POST /v1/analyze with a Bearer token and get JSON:
> emotion (valence, arousal, dominant emotion) and cognitive signals (cognitive load, clarity, processing) with intervals and reasons.

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
