/** Delay of /health during other work of the service. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Server } from '../support/service.ts';
import type { Delay, Target } from './prober.ts';

export type Prober = { during(work: () => Promise<unknown>): Promise<Delay>; stop(): void };

export function startProber({ port, process }: Server): Prober {
  const child = fork(fileURLToPath(new URL('./prober.ts', import.meta.url)), {
    serialization: 'advanced',
  });
  child.once('exit', (code) => {
    if (code !== 0) throw new Error(`the prober ended with ${code}`);
  });
  const next = async () => {
    const [value] = (await once(child, 'message')) as [unknown];
    return value;
  };
  return {
    async during(work) {
      const target: Target = { port, pid: process.pid as number };
      child.send(target);
      await next();
      await work();
      const result = next();
      child.send('stop');
      return (await result) as Delay;
    },
    stop: () => child.disconnect(),
  };
}
