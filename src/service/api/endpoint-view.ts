/** Endpoints of GET /docs as HTML: meaning, form, code samples and answers. */
import { type Html, html, prose } from '../html.ts';
import { type Content, type Parameter, requestForm } from './request-form.ts';
import { type CodeSample, sampleAddress } from './samples.ts';
import { linkedProse, typeText } from './schema-view.ts';

type Example = { readonly summary: string; readonly value: object };
type AnswerContent = Content & { readonly examples?: Readonly<Record<string, Example>> };

type Answer = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, AnswerContent>>;
};

/** What the page shows of an operation. */
export type Operation = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly description?: string;
    readonly content: Readonly<Record<string, Content>>;
  };
  readonly responses: Readonly<Record<string, Answer>>;
  readonly 'x-codeSamples'?: readonly CodeSample[];
};

export type Endpoint = Operation & { readonly method: string; readonly path: string };

/** @param parts what it is and takes, and its samples and answers */
export function endpointBox(
  head: { readonly id: string; readonly method: string; readonly path: string; readonly summary: string },
  ...parts: readonly [Html, Html]
): Html {
  const { id, method, path, summary } = head;
  return html`<details class="endpoint" id="${id}"><summary>
      <h3><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></h3>
      <span class="small muted">${summary}</span></summary>
    <div class="endpoint-content">${parts.map((part) => html`<div class="stack">${part}</div>`)}</div></details>`;
}

export function endpointView(endpoint: Endpoint): Html {
  const { operationId, description, security, requestBody } = endpoint;
  const needsToken = security.length > 0;
  const about = requestBody?.description ?? null;
  return endpointBox(
    { ...endpoint, id: operationId },
    html`<p>${linkedProse(description)}</p>
      <h4>Request${needsToken ? ', with a token' : null}</h4>
      ${about && html`<p class="small muted">${prose(about)}</p>`}${formsOf(endpoint, needsToken)}`,
    html`${samplesView(endpoint['x-codeSamples'])}${answersView(endpoint)}`,
  );
}

/** One for each type of body. */
function formsOf({ parameters = [], requestBody, ...endpoint }: Endpoint, needsToken: boolean): Html[] {
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, content]) => ({ type, content }));
  const alternatives = bodies.length === 0 ? [null] : bodies;
  return alternatives.map((body) => requestForm({ ...endpoint, needsToken, parameters, body }));
}

/** A request of the service, which the reader answers. */
export function callbackView(callback: Endpoint): Html {
  const { operationId, description, requestBody, responses } = callback;
  const bodies = Object.entries(requestBody?.content ?? {}).map(
    ([type, { schema }]) =>
      html`<p class="field-head"><code>${type}</code> <span>${typeText(schema)}</span></p>`,
  );
  const answers = Object.entries(responses).map(
    ([status, answer]) => html`<li><p><code>${status}</code> ${answer.description}</p></li>`,
  );
  return endpointBox(
    { ...callback, id: operationId },
    html`<p>${linkedProse(description)}</p>${bodies}<h4>Your answer</h4><ul class="fields">${answers}</ul>`,
    samplesView(callback['x-codeSamples']),
  );
}

export function samplesView(samples: readonly CodeSample[] = []): Html {
  return html`<div class="samples" data-address="${sampleAddress}">${samples.map(sampleView)}</div>`;
}

function sampleView({ lang, label, source }: CodeSample): Html {
  return html`<figure data-language="${label}"><figcaption class="small muted">${label}</figcaption>
    ${codeBlock(label, source, lang === 'Shell' ? 'code wrap' : 'code')}</figure>`;
}

/** The Tab key reaches it, so that the keyboard scrolls it. */
function codeBlock(label: string, text: string, kind = 'code'): Html {
  return html`<pre class="${kind}" tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>`;
}

function answersView({ responses }: Operation): Html {
  const isGood = ([status]: readonly [string, Answer]) => status < '300';
  const answers = Object.entries(responses);
  const errors = answers.filter((answer) => !isGood(answer));
  return html`<h4>Answers</h4><ul class="fields">${answers.filter(isGood).map(goodAnswer)}</ul>
    <details><summary>Errors: ${errors.map(([status]) => status).join(', ')}</summary>
      <ul class="fields">${errors.map(answerOf)}</ul></details>`;
}

function goodAnswer([status, answer]: readonly [string, Answer]): Html {
  const examples = Object.values(answer.content ?? {}).flatMap((content) =>
    Object.values(content.examples ?? {}),
  );
  return html`${answerOf([status, answer])}
    <li class="muted">Headers: ${Object.keys(answer.headers ?? {}).join(', ')}</li>
    ${examples.map((example) => html`<li>${exampleView(example)}</li>`)}`;
}

function answerOf([status, { description, content = {} }]: readonly [string, Answer]): Html {
  const types = Object.entries(content).map(
    ([type, { schema }]) =>
      html`<span>${typeText(schema)}${type === 'application/json' ? null : `, ${type}`}</span>`,
  );
  return html`<li><p class="field-head"><code>${status}</code> ${types}</p><p>${prose(description)}</p></li>`;
}

function exampleView({ summary, value }: Example): Html {
  const text = JSON.stringify(value, null, 2);
  return html`<details><summary>Example: ${summary}</summary>${codeBlock('Example', text)}</details>`;
}
