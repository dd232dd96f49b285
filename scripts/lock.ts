/** The lock file: what an installation runs with. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

type Names = Readonly<Record<string, string>>;
type Locked = {
  readonly name?: string;
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: true;
  readonly optional?: true;
  readonly devOptional?: true;
  readonly dependencies?: Names;
  readonly optionalDependencies?: Names;
  readonly peerDependencies?: Names;
};
export type Entry = readonly [path: string, locked: Locked];

const folder = 'node_modules/';
const file = fileURLToPath(new URL('../package-lock.json', import.meta.url));
/** By path; the project has the empty path. */
const packages: Readonly<Record<string, Locked>> = JSON.parse(readFileSync(file, 'utf8')).packages;

/** Those that are not for development alone. */
export const entries: readonly Entry[] = Object.entries(packages).filter(([, { dev }]) => dev === undefined);

export const nameOf = ([path, { name }]: Entry): string => name ?? (path.split(folder).at(-1) as string);

/** The package that Node.js loads by the name from the path; undefined for an optional package that is absent. */
function resolve(path: string, name: string): Entry | undefined {
  for (let from = path; ; from = from.slice(0, Math.max(0, from.lastIndexOf(folder) - 1))) {
    const candidate = `${from === '' ? '' : `${from}/`}${folder}${name}`;
    const locked = packages[candidate];
    if (locked !== undefined) return locked.dev ? undefined : [candidate, locked];
    if (from === '') return undefined;
  }
}

export function dependenciesOf([path, locked]: Entry): Entry[] {
  const { dependencies, optionalDependencies, peerDependencies } = locked;
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  return names.map((name) => resolve(path, name)).filter((one) => one !== undefined);
}

/** The packages of these names, and all that they need. */
export function closureOf(names: readonly string[]): Entry[] {
  const found = new Map<string, Locked>();
  const queue = names.map((name) => resolve('', name)).filter((one) => one !== undefined);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (found.has(next[0])) continue;
    found.set(...next);
    queue.push(...dependenciesOf(next));
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}
