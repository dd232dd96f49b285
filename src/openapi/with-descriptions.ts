import { z } from 'zod';

/** Adds a description to each field of a schema. */
export function withDescriptions<Shape extends Readonly<Record<string, z.ZodType>>>(
  { shape }: z.ZodObject<Shape>,
  descriptions: Readonly<Record<keyof Shape, string>>,
) {
  const fields = Object.entries(shape).map(([name, field]) => [
    name,
    field.describe(descriptions[name] as string),
  ]);
  return z.object(Object.fromEntries(fields) as Shape);
}
