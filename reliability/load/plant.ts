/** Faults put into the service from outside: a script that it loads before its own. */
import { fileURLToPath } from 'node:url';

/** @returns the environment to start the service with */
export function plant(name: 'abrupt-end' | 'leaked-bytes' | 'leaked-descriptors'): Record<string, string> {
  const file = fileURLToPath(new URL(`./plants/${name}.mjs`, import.meta.url));
  return { NODE_OPTIONS: `--import=${file}` };
}
