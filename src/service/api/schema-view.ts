/** Schemas of the documents as HTML: types with links, and lists of fields. */
import { type Html, html, prose } from '../html.ts';

/** What the documents use of JSON Schema. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
};

const prefix = '#/components/schemas/';

/** Id of the element that shows a named schema. */
const schemaId = (name: string) => `schema-${name}`;

/** @param reference a `$ref` to a named schema */
function nameOf(reference: string): string {
  return reference.slice(prefix.length);
}

/** Text with `code` between backticks; names of pages of the documentation become links. */
export function linkedProse(text: string): Html {
  const parts = text.split(/(docs\/[\w-]+\.md)/);
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<a href="/${part}">${part}</a>` : prose(part)))}`;
}

const separated = (parts: readonly Html[], separator: string): Html =>
  html`${parts.map((part, index) => (index === 0 ? part : html`${separator}${part}`))}`;

const value = (of: unknown): Html => html`<code>${typeof of === 'string' ? of : JSON.stringify(of)}</code>`;

/** In a few words; named schemas are links. */
export function typeText(schema: Schema): Html {
  const { $ref, oneOf, anyOf, items, prefixItems, additionalProperties } = schema;
  if ($ref !== undefined) return html`<a href="#${schemaId(nameOf($ref))}">${nameOf($ref)}</a>`;
  if (schema.const !== undefined) return value(schema.const);
  if (schema.enum !== undefined) return separated(schema.enum.map(value), ', ');
  const variants = oneOf ?? anyOf;
  if (variants !== undefined) return separated(variants.map(typeText), ' or ');
  if (prefixItems?.[0] !== undefined) return html`${prefixItems.length} of ${typeText(prefixItems[0])}`;
  if (items !== undefined) return html`array of ${typeText(items)}`;
  if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0)
    return html`object of ${typeText(additionalProperties)}`;
  return html`${scalarText(schema)}`;
}

function scalarText({ type = 'any', format, minimum, maximum }: Schema): string {
  if (format === 'binary') return 'file';
  const name = typeof type === 'string' ? type : type.join(' or ');
  if (format !== undefined) return `${name}, ${format}`;
  // Bounds of safe integers say nothing.
  const [low, high] = [minimum, maximum].map((bound) =>
    bound === undefined || Math.abs(bound) > 2 ** 52 ? null : bound,
  );
  if (low != null && high != null) return `${name}, ${low} to ${high}`;
  return low != null ? `${name}, at least ${low}` : name;
}

/** The object whose fields are listed below a field: its own, or that of a list; named ones have a place of their own. */
function innerOf({ properties, items, anyOf, ...rest }: Schema): Schema | null {
  if (properties !== undefined && Object.keys(properties).length > 0) return { ...rest, properties };
  const [inner = null] = [items, ...(anyOf ?? [])].flatMap((one) =>
    one === undefined ? [] : (innerOf(one) ?? []),
  );
  return inner;
}

/** Name, type and meaning of each field. */
export function fieldList({ properties = {}, required = [] }: Schema): Html {
  const entries = Object.entries(properties);
  if (entries.length === 0) return html`<p class="small muted">No fields.</p>`;
  return html`<ul class="fields">${entries.map(([name, schema]) => {
    const inner = innerOf(schema);
    return html`<li>${fieldHead(name, schema, required.includes(name))}${
      schema.description === undefined ? null : html`<p>${linkedProse(schema.description)}</p>`
    }${inner === null ? null : fieldList(inner)}</li>`;
  })}</ul>`;
}

function fieldHead(name: string, schema: Schema, isRequired: boolean): Html {
  return html`<p class="field-head"><code>${name}</code> <span>${typeText(schema)}${isRequired ? null : ', optional'}</span></p>`;
}

/** A named schema in its place. */
export function schemaView(name: string, schema: Schema): Html {
  const content =
    schema.properties === undefined ? html`<p class="field-head">${typeText(schema)}</p>` : null;
  const inner = innerOf(schema);
  return html`<details id="${schemaId(name)}"><summary><h3>${name}</h3></summary><div>
    ${schema.description === undefined ? null : html`<p>${linkedProse(schema.description)}</p>`}
    ${content}${inner === null ? null : fieldList(inner)}</div></details>`;
}

/** Names of the schemas that these values refer to, directly or through other schemas, in the order of `schemas`. */
export function referredNames(
  values: readonly unknown[],
  schemas: Readonly<Record<string, Schema>>,
): string[] {
  const found = new Set<string>();
  const add = (content: unknown) => {
    for (const [, name = ''] of JSON.stringify(content).matchAll(
      /"\$ref":"#\/components\/schemas\/(\w+)"/g,
    )) {
      if (found.has(name)) continue;
      found.add(name);
      add(schemas[name]);
    }
  };
  add(values);
  return Object.keys(schemas).filter((name) => found.has(name));
}
