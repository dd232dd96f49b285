import { z } from 'zod';

/** The schema that validates, with words for each field. */
export function withDescriptions<Shape extends Readonly<Record<string, z.ZodType>>>(
  { shape }: z.ZodObject<Shape>,
  words: Readonly<Record<keyof Shape, string>>,
) {
  const fields = Object.entries(shape).map(([name, field]) => [name, field.describe(words[name] as string)]);
  return z.object(Object.fromEntries(fields) as Shape);
}
