/** Work for a thread of the tests (see thread.ts) that lasts until the test ends it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from './folder.ts';
import type { ThreadTask } from './thread.ts';

export type Gate = { readonly task: ThreadTask; open(): void };

export function createGate(): Gate {
  const file = join(makeFolder(), 'open');
  return { task: { do: 'hold', file }, open: () => writeFileSync(file, '') };
}
