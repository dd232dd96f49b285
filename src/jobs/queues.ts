/** The two queues, kept by BullMQ: analyses that wait for a worker, and callbacks that wait to be heard. */
import { Queue } from 'bullmq';
import type { Redis } from '../redis.ts';
import type { SealedOrder } from './order.ts';
import type { Vault } from './seal.ts';

const prefix = 'undertone';

/** Those with another secret could not open what waits: they have queues of their own. */
export const queueNames = ({ fingerprint }: Pick<Vault, 'fingerprint'>) => ({
  analyses: `analyses-${fingerprint}`,
  callbacks: `callbacks-${fingerprint}`,
});

export type Queues = {
  readonly analyses: Queue<SealedOrder>;
  readonly callbacks: Queue<SealedOrder>;
  close(): Promise<void>;
};

/** Doubling from there: the last of the analyses comes after 4 minutes, the last callback after 70. */
const analysis = { attempts: 8, backoff: { type: 'exponential', delay: 2000 } } as const;
const callback = { attempts: 13, backoff: { type: 'exponential', delay: 1000 } } as const;
const forget = { removeOnComplete: true, removeOnFail: true } as const;

export function openQueues(redis: Redis, vault: Vault): Queues {
  const names = queueNames(vault);
  const open = (name: string, options: typeof analysis | typeof callback) => {
    const queue = new Queue<SealedOrder>(name, {
      ...basis(redis),
      defaultJobOptions: { ...options, ...forget },
    });
    // Each call says for itself that it failed.
    queue.on('error', () => {});
    return queue;
  };
  const analyses = open(names.analyses, analysis);
  const callbacks = open(names.callbacks, callback);
  return {
    analyses,
    callbacks,
    close: async () => {
      await Promise.all([analyses.close(), callbacks.close()]);
    },
  };
}

/** What queues and workers share. */
export function basis(redis: Redis) {
  return { connection: redis, prefix } as const;
}
