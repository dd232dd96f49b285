/** The content of GET /docs, from the OpenAPI document and the AsyncAPI document: endpoints, then rules of all paths, errors and schemas. */

import { readDoc } from '../../node/docs.ts';
import { version } from '../../node/paths.ts';
import { errorTable } from '../errors.ts';
import { type Html, html, prose } from '../html.ts';
import { asyncApiDocument, openApiDocument, rules } from './document.ts';
import {
  callbackView,
  type Endpoint,
  endpointBox,
  endpointView,
  type Operation,
  samplesView,
} from './endpoint-view.ts';
import type { CodeSample } from './samples.ts';
import { fieldList, linkedProse, referredNames, type Schema, schemaView } from './schema-view.ts';

/** What the page shows of the OpenAPI document. */
type Document = {
  readonly tags: readonly Tag[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: { readonly jobEnded: { readonly post: Operation } };
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

type Tag = { readonly name: string; readonly description: string };

/** What the page shows of the AsyncAPI document. */
type LiveDocument = {
  readonly channels: {
    readonly stream: {
      readonly address: string;
      readonly description: string;
      readonly messages: Readonly<Record<string, Message>>;
      readonly 'x-codeSamples': readonly CodeSample[];
    };
  };
  readonly operations: Readonly<Record<'receiveFromClient' | 'sendToClient', Messages>>;
};

type Message = { readonly name: string; readonly summary: string; readonly payload: Schema };
type Messages = { readonly messages: readonly { readonly $ref: string }[] };

/** Programs need no routes of the account page: the document has them, the page does not. */
const hiddenTag = 'Account';

/** @returns HTML */
export function apiPage(): string {
  const { tags, paths, webhooks, components } = openApiDocument(version) as Document;
  const endpoints = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path,
      })),
    )
    .filter(({ tags: [tag] }) => tag !== hiddenTag);
  const callback = { ...webhooks.jobEnded.post, method: 'POST', path: 'your callback' };
  /** What stands below the endpoints of a tag. */
  const more: Readonly<Record<string, Html>> = {
    Jobs: callbackView(callback),
    Live: liveView(asyncApiDocument(version) as LiveDocument),
  };
  const shownTags = tags.filter(({ name }) => name !== hiddenTag);
  const analyze = endpoints.find(({ operationId }) => operationId === 'analyze');
  const schemas = referredNames([endpoints, callback], components.schemas).map((name) =>
    schemaView(name, components.schemas[name] ?? {}),
  );
  return html`${sectionLinks([...shownTags.map(({ name }) => name), 'Models', 'Rules', 'Errors', 'Schemas'])}
    <div class="columns">
      ${section('First request', firstRequest(analyze?.['x-codeSamples']))}
      <section class="card stack" id="access" aria-label="Access"></section>
    </div>
    ${shownTags.map((tag) => section(tag.name, html`${endpointsOf(tag, endpoints)}${more[tag.name] ?? null}`))}
    ${section('Models', modelsView())}
    ${section('Rules', html`${rules.map((rule) => html`<p>${prose(rule)}</p>`)}`)}
    ${section('Errors', errorsView())}
    ${section('Schemas', html`<div class="schemas">${schemas}</div>`)}`.html;
}

const idOf = (title: string) => title.toLowerCase().replaceAll(' ', '-');

function sectionLinks(titles: readonly string[]): Html {
  const links = titles.map((title) => html`<a href="#${idOf(title)}">${title}</a> `);
  return html`<nav class="row small" aria-label="Sections">${links}</nav>`;
}

function section(title: string, content: Html): Html {
  const id = idOf(title);
  return html`<section class="card stack" id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>${content}</section>`;
}

function firstRequest(samples: readonly CodeSample[] | undefined): Html {
  return html`<p>Create a token on the <a href="/account">account page</a>, put it into UNDERTONE_TOKEN and send a
      recording:</p>
    ${samplesView(samples)}
    <p class="small muted">The clients: <code>npm install /path/to/undertone/clients/typescript</code> and
      <code>pip install /path/to/undertone/clients/python</code>.</p>`;
}

function endpointsOf({ name, description }: Tag, endpoints: readonly Endpoint[]): Html {
  const tagged = endpoints.filter(({ tags: [tag] }) => tag === name);
  return html`<p class="muted">${linkedProse(description)}</p>${tagged.map(endpointView)}`;
}

function liveView({ channels: { stream }, operations }: LiveDocument): Html {
  const messages = ({ messages }: Messages) =>
    messages.map(({ $ref }) => messageView(stream.messages[$ref.split('/').at(-1) ?? ''] as Message));
  return endpointBox(
    { id: 'stream', method: 'GET', path: stream.address, summary: 'A live session over WebSocket' },
    html`<p>${prose(stream.description)} The protocol: <a href="/docs/streaming.md">docs/streaming.md</a> and
        <a href="/asyncapi.json">the AsyncAPI document</a>.</p>
      <h4>Messages of the client</h4><div>${messages(operations.receiveFromClient)}</div>
      <h4>Messages of the service</h4><div>${messages(operations.sendToClient)}</div>`,
    samplesView(stream['x-codeSamples']),
  );
}

function messageView({ name, summary, payload }: Message): Html {
  const fields = payload.properties === undefined ? null : fieldList(payload);
  return html`<details><summary><code>${name}</code></summary><p class="small">${prose(summary)}</p>${fields}</details>`;
}

/** The table of the sets of models in docs/models.md. */
function modelsView(): Html {
  const [, table = ''] =
    /<!-- accuracy -->\s+(.*?)\s+<!-- end of accuracy -->/s.exec(readDoc('models.md')) ?? [];
  const [head = [], , ...rows] = table.split('\n').map((line) => line.split('|').slice(1, -1));
  const cells = (row: readonly string[]) => row.slice(1).map((cell) => html`<td>${prose(cell.trim())}</td>`);
  return html`<p>The operator chooses a set. Low rates of negative answers to speech that nobody acted are better, as are low
      errors; other figures are better high. In parentheses: 95 % intervals.
      <a href="/docs/models.md">docs/models.md</a> says which set is for whom.</p>
    <div class="table-scroll" tabindex="0" role="region" aria-label="Sets of models">
      <table>
        <thead><tr><td></td>${head.slice(1).map((name) => html`<th scope="col">${prose(name.trim())}</th>`)}</tr></thead>
        <tbody>${rows.map((row) => html`<tr><th scope="row">${prose(row[0]?.trim() ?? '')}</th>${cells(row)}</tr>`)}</tbody>
      </table>
    </div>`;
}

function errorsView(): Html {
  const items = Object.entries(errorTable).map(
    ([
      code,
      { status, when },
    ]) => html`<li><p class="field-head"><code>${code}</code> <span>${status}</span></p>
      <p>${prose(when)}</p></li>`,
  );
  return html`<p>The body of 413 and 422 is a <a href="#schema-ValidationFailure">ValidationFailure</a>, of all others a
      <a href="#schema-Failure">Failure</a>.</p><ul class="fields errors">${items}</ul>`;
}
