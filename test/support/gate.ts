/** Work for a thread of the tests (see thread.ts) that lasts until the test ends it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from './folder.ts';
import type { Order } from './thread.ts';

export type Gate = { readonly order: Order; open(): void };

export function createGate(): Gate {
  const file = join(makeFolder(), 'open');
  return { order: { do: 'hold', file }, open: () => writeFileSync(file, '') };
}
