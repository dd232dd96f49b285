/** Faults put into the service from outside: a script that it loads before its own. */
import { fileURLToPath } from 'node:url';

type Fault = 'abrupt-end' | 'leaked-bytes' | 'leaked-descriptors' | 'mortal-workers' | 'no-replacement';

/** @returns the environment to start the service with */
export function plant(name: Fault): Record<string, string> {
  const file = fileURLToPath(new URL(`./plants/${name}.mjs`, import.meta.url));
  return { NODE_OPTIONS: `--import=${file}` };
}
