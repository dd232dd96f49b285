/** GET /health at an interval, each on a new connection. */
import { setTimeout as sleep } from 'node:timers/promises';
import { exchange } from './exchange.ts';

const maxWaitMs = 60_000;

export type Health = { readonly requests: number; readonly failed: number; readonly maxMs: number };

/** `stop` resolves once every request has ended. */
export function startHealthProbe(port: number, intervalMs = 100): { stop(): Promise<Health> } {
  const pending: Promise<{ readonly status: number; readonly ms: number }>[] = [];
  const none = { status: 0, ms: Number.POSITIVE_INFINITY };
  const probe = () =>
    pending.push(Promise.race([exchange({ port, path: '/health' }), sleep(maxWaitMs, none, { ref: false })]));
  probe();
  const timer = setInterval(probe, intervalMs);
  return {
    stop: async () => {
      clearInterval(timer);
      const answers = await Promise.all(pending);
      const failed = answers.filter(({ status }) => status !== 200).length;
      return { requests: answers.length, failed, maxMs: Math.max(...answers.map(({ ms }) => ms)) };
    },
  };
}
