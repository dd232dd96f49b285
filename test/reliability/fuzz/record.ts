/** What the long runs of a target came to so far: they go on where the last one ended. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fuzzed } from './fuzzer.ts';

export type Fuzzing = Pick<Fuzzed, 'executions' | 'seconds' | 'edges'>;

/** Adds a run to what was written down in the folder. @returns all of it */
export function add(folder: string, run: Fuzzed): Fuzzing {
  const file = join(folder, 'record.json');
  const before: Fuzzing = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : { executions: 0, seconds: 0, edges: 0 };
  const all = {
    executions: before.executions + run.executions,
    seconds: before.seconds + run.seconds,
    edges: Math.max(before.edges, run.edges),
  };
  writeFileSync(file, `${JSON.stringify(all)}\n`);
  return all;
}
