/** JSON of clients, in bodies, parts of forms and messages: UTF-8, no name is `__proto__`, and no unknown fields. */
import type { z } from 'zod';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @throws TypeError for bytes that are not UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}

/** In a text without it no name is `__proto__`. */
const mayNameProto = /__proto__|\\u/;

/** @throws SyntaxError for other text */
export function parseJson(text: string): unknown {
  if (!mayNameProto.test(text)) return JSON.parse(text);
  return JSON.parse(text, (name, value) => {
    if (name === '__proto__') throw new SyntaxError('Expected another name, got __proto__');
    return value;
  });
}

const maxNames = 4;
const plainName = /^[\w.-]{1,64}$/;

/** Names the fields of the schema, and those of `fields` that it does not have. */
export function expectKnownFields(where: string, schema: z.ZodType, fields: readonly string[]): string {
  const known = 'shape' in schema ? Object.keys(schema.shape as object) : [];
  const unknown = fields.filter((field) => !known.includes(field));
  const names = unknown.slice(0, maxNames).map((name) => (plainName.test(name) ? `\`${name}\`` : 'another'));
  const more = unknown.length > maxNames ? ` and ${unknown.length - maxNames} more` : '';
  return `Expected only the fields ${known.join(', ')} in \`${where}\`, got ${names.join(', ')}${more}`;
}
