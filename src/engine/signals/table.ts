/** Every signal: see docs/architecture.md, Adding a signal. */
import type { z } from 'zod';
import { cognitive } from './cognitive.ts';
import type { SignalDefinition } from './definition.ts';
import { emotion } from './emotion.ts';

const table = { emotion, cognitive } as const;

type Table = typeof table;
export type Signal = keyof Table;
export type ResultOf<S extends Signal> = ReturnType<Table[S]['aggregate']>;
export type ParamsOf<S extends Signal> = z.infer<Table[S]['params']>;
export type BodyOf<S extends Signal> = z.infer<Table[S]['body']>;

export const signals = Object.keys(table) as readonly Signal[];
/** Without the type parameters of each signal, which only the file of the signal needs. */
export const definitions: Readonly<Record<Signal, SignalDefinition>> = table;

/** As part of a sentence: `emotion and cognitive signals`. Intl.ListFormat takes 10 ms to load. */
export function titlesOf(named: readonly Signal[]): string {
  const titles = named.map((signal) => definitions[signal].title);
  return titles.join(', ').replace(/, (?=[^,]*$)/, ' and ');
}
