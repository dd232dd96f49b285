/** GET /openapi.json, GET /asyncapi.json and GET /docs, which renders it with Swagger UI. Every file is served from memory. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Router } from '@koa/router';
import { asyncApiDocument } from '../../openapi/asyncapi.ts';
import { openApiDocument } from '../../openapi/document.ts';
import { version } from '../../runtime/version.ts';
import { sendTagged, type TaggedBody, tagBody } from '../respond.ts';
import type { State } from '../state.ts';

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Undertone API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/contrast.css">
</head>
<body>
<main id="reference"></main>
<noscript>This page needs JavaScript. <a href="/openapi.json">The document it shows</a> does not.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const start = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
SwaggerUIBundle({
  url: '/openapi.json',
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
      // The document is built on the first request, so that it does not delay the start.
      content ??= tagBody(read(), type);
      context.set('Content-Security-Policy', policy);
      sendTagged(context, content, 'no-cache');
    });
  };
  add('/openapi.json', 'application/json', () => JSON.stringify(openApiDocument(version)));
  add('/asyncapi.json', 'application/json', () => JSON.stringify(asyncApiDocument(version)));
  add('/docs', 'text/html; charset=utf-8', () => page);
  add('/docs/contrast.css', 'text/css; charset=utf-8', () => contrast);
  add('/docs/start.js', 'text/javascript; charset=utf-8', () => start);
  for (const [name, type] of Object.entries(swaggerFiles)) {
    const bytes = readFileSync(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)));
    add(`/docs/${name}`, type, () => bytes);
  }
}
