/** Starts and controls the load generator. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Outcome } from './exchange.ts';
import type { Order } from './load-process.ts';

export type Generator = {
  /** Resolves when every request of the order has come to its end; one order at a time. */
  send(order: Order): Promise<readonly Outcome[]>;
  stop(): void;
};

export function startGenerator(): Generator {
  const child = fork(fileURLToPath(new URL('./load-process.ts', import.meta.url)));
  return {
    send: async (order) => {
      child.send(order);
      const [outcomes] = await Promise.race([
        once(child, 'message') as Promise<[readonly Outcome[]]>,
        once(child, 'exit').then(() => Promise.reject(new Error('the generator has ended'))),
      ]);
      return outcomes;
    },
    stop: () => child.disconnect(),
  };
}
