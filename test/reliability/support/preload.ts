/** Scripts that the service loads before its own: faults to be found, and instruments. */

export type PreloadScript =
  | 'immediate-exit'
  | 'periodic-gc'
  | 'slow-fields'
  | 'throwing-host'
  | 'exit-on-503'
  | 'request-recorder'
  | 'leaked-bytes'
  | 'leaked-descriptors'
  | 'leaked-sockets'
  | 'worker-faults'
  | 'early-slots'
  | 'unlimited-frames';

/** @returns the environment to start the service with */
export function preload(...names: readonly PreloadScript[]): Record<string, string> {
  const files = names.map((name) => new URL(`../injected-faults/${name}.mjs`, import.meta.url));
  return { NODE_OPTIONS: files.map(({ href }) => `--import=${href}`).join(' ') };
}
