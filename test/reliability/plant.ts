/** Scripts that the service loads before its own: faults to be found, and instruments. */

export type Plant =
  | 'abrupt-end'
  | 'collected-garbage'
  | 'costly-fields'
  | 'fault'
  | 'gives-up'
  | 'into-cgroup'
  | 'keeper'
  | 'kept-sockets'
  | 'leaked-bytes'
  | 'leaked-descriptors'
  | 'mortal-workers'
  | 'no-replacement'
  | 'reserved-uploads'
  | 'wall-clock';

/** @returns the environment to start the service with */
export function plant(...names: readonly Plant[]): Record<string, string> {
  const files = names.map((name) => new URL(`./plants/${name}.mjs`, import.meta.url));
  return { NODE_OPTIONS: files.map(({ href }) => `--import=${href}`).join(' ') };
}
