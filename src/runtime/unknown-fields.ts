/** The message for fields that a JSON object does not have. */
import type { z } from 'zod';

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
