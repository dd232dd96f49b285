/** GET /docs, /openapi.json and /asyncapi.json: the API; GET /docs/NAME, /docs/NAME.md and /llms.txt: the documentation. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Router } from '@koa/router';
import { loadOnce } from '../../../engine/index.ts';
import { definitions, type Signal, signals } from '../../../engine/schema.ts';
import { listDocs, listPictures, readDoc, readPicture } from '../../../node/docs.ts';
import { version } from '../../../node/paths.ts';
import { asyncApiDocument, openApiDocument } from '../../api/document.ts';
import type { State } from '../context.ts';
import { prepareDocument, sendDocument, withContent } from '../documents.ts';
import { requireKnownHost } from '../hosts.ts';
import { sendTagged, tagBody } from '../responses.ts';
import type { StaticOptions } from './pages.ts';

/** A file that is read, or made, at its first request, so that it does not delay the start. */
function addFile(
  router: Router<State>,
  path: string,
  type: string,
  read: () => Promise<string | Buffer>,
): void {
  const load = loadOnce(async () => tagBody(await read(), type));
  router.get(path, async function sendFile(context) {
    sendTagged(context, await load(), 'no-cache');
  });
}

export function addApiDocsRoutes(router: Router<State>, { pages, config }: StaticOptions): void {
  const add = (path: string, build: (release: string) => object) =>
    addFile(router, path, 'application/json', async () => JSON.stringify(build(version)));
  add('/openapi.json', openApiDocument);
  add('/asyncapi.json', asyncApiDocument);
  const load = loadOnce(async () => {
    const { apiPage } = await import('../../api/page.ts');
    return prepareDocument(withContent(pages.docs, apiPage()));
  });
  router.get('/docs', requireKnownHost(config), async function sendApiPage(context) {
    sendDocument(context, await load());
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
  const readPage = (file: string) => readFile(join(pages.guide, file));
  for (const name of names) {
    addFile(router, `/docs/${name}`, 'text/markdown; charset=utf-8', async () => readDoc(name));
    const page = name.replace(/\.md$/, '');
    const load = loadOnce(async () => prepareDocument(String(await readPage(`${page}.html`))));
    router.get(`/docs/${page}`, requireKnownHost(config), async function guidePage(context) {
      sendDocument(context, await load());
    });
  }
  for (const name of listPictures()) {
    const type = name.endsWith('.svg') ? 'image/svg+xml' : 'image/png';
    addFile(router, `/docs/pictures/${name}`, type, () => readPicture(name));
  }
  addFile(router, '/docs/search.json', 'application/json', () => readPage('search.json'));
  const index = async () => introduction + names.map(entryOf).join('');
  addFile(router, '/llms.txt', 'text/plain; charset=utf-8', index);
}

function entryOf(name: string): string {
  const markdown = readDoc(name).replace(/^```.*?^```$/gms, '');
  const [, title = name] = /^# (.*)$/m.exec(markdown) ?? [];
  // The first paragraph that is text.
  const [paragraph = ''] = /^(?![#|>-])\S[^\n]*(?:\n[^\n]+)*/m.exec(markdown) ?? [];
  const [sentence = ''] = /^.*?[.:](?=\s|$)/s.exec(paragraph) ?? [paragraph];
  return `- [${title}](/docs/${name}): ${sentence.replace(/\s+/g, ' ').replace(/[.:]$/, '')}\n`;
}
