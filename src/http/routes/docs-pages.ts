/** GET /docs/NAME.md: the documentation in Markdown, and GET /llms.txt, its index. Every file is served from memory. */
import type { Router } from '@koa/router';
import { listDocs, readDoc } from '../../runtime/docs.ts';
import { sendTagged, type TaggedBody, tagBody } from '../respond.ts';
import type { State } from '../state.ts';

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
