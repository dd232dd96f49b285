/** Forms of GET /docs that send the request of an operation: web/docs/main.ts reads their data attributes. */
import { type Html, html } from '../html.ts';
import { linkedProse, type Schema, typeText } from './schema-view.ts';

export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: string;
};

export type Content = { readonly schema: Schema; readonly example?: unknown };

type Request = {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly needsToken: boolean;
  readonly parameters: readonly Parameter[];
  /** Null without a body. */
  readonly body: { readonly type: string; readonly content: Content } | null;
};

/** One value that the reader gives. */
type Field = Omit<Parameter, 'in'> & { readonly place: Parameter['in'] | 'part' };

const multipart = 'multipart/form-data';
/** Longer texts have several lines. */
const maxLineLength = 4096;

/** The values of the request with their meaning, and the button that sends it. */
export function requestForm(request: Request): Html {
  const { operationId, method, path, needsToken, body } = request;
  const fields = [
    ...request.parameters.map((parameter) => ({ ...parameter, place: parameter.in })),
    ...partsOf(body),
  ];
  const suffix = body === null ? '' : `-${body.type === multipart ? 'form' : 'json'}`;
  const items = (some: readonly Field[]) => some.map((field) => fieldItem(`${operationId}${suffix}`, field));
  const needed = items(fields.filter(({ required }) => required));
  const optional = fields.filter(({ required }) => !required);
  const json = body === null || body.type === multipart ? null : jsonItem(operationId, body.content);
  return html`<form class="request" data-method="${method}" data-path="${path}"${needsToken ? html` data-token=""` : null}>
    ${body === null ? null : html`<p class="small muted"><code>${body.type}</code></p>`}
    ${needed.length === 0 && json === null ? null : html`<ul class="fields">${needed}${json}</ul>`}
    ${
      optional.length === 0
        ? null
        : html`<details><summary>Optional: ${optional.map(({ name }) => name).join(', ')}</summary><ul class="fields">${items(optional)}</ul></details>`
    }
    <div class="row"><button type="submit" class="button primary" disabled>Send</button></div>
  </form>`;
}

function partsOf(body: Request['body']): Field[] {
  if (body?.type !== multipart) return [];
  const { properties = {}, required = [] } = body.content.schema;
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    place: 'part',
    required: required.includes(name),
    description: schema.description ?? '',
    schema,
  }));
}

function fieldItem(form: string, field: Field): Html {
  const { name, description, schema } = field;
  const id = `${form}-${name}`;
  return html`<li><p class="field-head"><label for="${id}"><code>${name}</code></label> <span>${typeText(schema)}</span></p>
    <p id="${id}-note">${linkedProse(description)}</p>${control(id, field)}</li>`;
}

/** @param id of the control; its description has the id `ID-note` */
function control(id: string, { name, place, required, schema, example }: Field): Html {
  const attributes = html`id="${id}" aria-describedby="${id}-note" data-name="${name}" data-place="${place}"${required ? html` required` : null}`;
  const item = schema.items ?? schema;
  if (item.format === 'binary')
    return html`<input type="file" ${attributes}${schema.items === undefined ? null : html` multiple`}>`;
  if (schema.enum !== undefined)
    return html`<select class="input" ${attributes}><option value="">not sent</option>${schema.enum.map((one) => html`<option>${String(one)}</option>`)}</select>`;
  if ((schema.maxLength ?? 0) > maxLineLength)
    return html`<textarea class="input" rows="3" spellcheck="false" ${attributes}></textarea>`;
  // A header holds no other characters; anything else may be tried.
  const pattern = place === 'header' ? (schema.pattern ?? null) : null;
  const inputType = schema.type === 'integer' ? 'number' : schema.format === 'uri' ? 'url' : 'text';
  return html`<input class="input" type="${inputType}" autocomplete="off" spellcheck="false" ${attributes}${
    example === undefined ? null : html` placeholder="${example}"`
  }${pattern === null ? null : html` pattern="${pattern}"`}>`;
}

function jsonItem(operationId: string, { schema, example = {} }: Content): Html {
  const id = `${operationId}-json-body`;
  const text = JSON.stringify(example, null, 2);
  return html`<li><p class="field-head"><label for="${id}">Body</label> <span>${typeText(schema)}</span></p>
    <textarea class="input code" id="${id}" rows="${text.split('\n').length + 1}" spellcheck="false" data-place="json" required>${text}</textarea></li>`;
}
