/** GET /docs, /openapi.json and /asyncapi.json: the API; GET /docs/NAME, /docs/NAME.md and /llms.txt: the documentation. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Router } from '@koa/router';
import { definitions, type Signal, signals } from '../../../engine/schema.ts';
import { listDocs, listPictures, readDoc, readPicture, version } from '../../../node/paths.ts';
import { asyncApiDocument, openApiDocument } from '../../api/document.ts';
import type { State } from '../context.ts';
import { type PreparedDocument, prepareDocument, sendDocument, withContent } from '../documents.ts';
import { requireKnownHost } from '../origins.ts';
import { sendTagged, type TaggedBody, tagBody } from '../responses.ts';
import type { StaticOptions } from './pages.ts';

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

// GET /docs/NAME: a page of the documentation; GET /docs/NAME.md: in Markdown; GET /llms.txt: the index.

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

export function addDocsPagesRoutes(router: Router<State>, { pages, config }: StaticOptions): void {
  const names = listDocs();
  const add = (path: string, type: string, readText: () => string) => {
    let content: TaggedBody | null = null;
    router.get(path, async function docsPage(context) {
      content ??= tagBody(readText(), `text/${type}; charset=utf-8`);
      sendTagged(context, content, 'no-cache');
    });
  };
  for (const name of names) {
    add(`/docs/${name}`, 'markdown', () => readDoc(name));
    const page = name.replace(/\.md$/, '');
    let document: PreparedDocument | null = null;
    router.get(`/docs/${page}`, requireKnownHost(config), async function guidePage(context) {
      document ??= prepareDocument(await readFile(join(pages.guide, `${page}.html`), 'utf8'));
      sendDocument(context, document);
    });
  }
  for (const name of listPictures()) {
    let picture: TaggedBody | null = null;
    router.get(`/docs/pictures/${name}`, async function docsPicture(context) {
      picture ??= tagBody(readPicture(name), name.endsWith('.svg') ? 'image/svg+xml' : 'image/png');
      sendTagged(context, picture, 'no-cache');
    });
  }
  let index: TaggedBody | null = null;
  router.get('/docs/search.json', async function searchIndex(context) {
    index ??= tagBody(await readFile(join(pages.guide, 'search.json')), 'application/json');
    sendTagged(context, index, 'no-cache');
  });
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
