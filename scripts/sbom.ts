/**
 * Prints what the service is made of, for `npm run sbom`: CycloneDX, the packages that an installation runs with.
 * It is made from the lock file: the npm of Debian 13 has no `npm sbom`.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

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
type Entry = readonly [path: string, locked: Locked];

const folder = 'node_modules/';
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
/** By path; the project has the empty path. */
const packages: Readonly<Record<string, Locked>> = readJson('package-lock.json').packages;
const entries: readonly Entry[] = Object.entries(packages).filter(([, { dev }]) => dev === undefined);

/** Compiled in from native/third_party, so npm does not list it. */
const kissfft = {
  'bom-ref': 'kissfft@131.1.0',
  type: 'library',
  name: 'kissfft',
  version: '131.1.0',
  purl: 'pkg:github/mborgerding/kissfft@131.1.0',
  licenses: [{ license: { id: 'BSD-3-Clause' } }],
};

const nameOf = ([path, { name }]: Entry): string => name ?? (path.split(folder).at(-1) as string);
const refOf = (entry: Entry): string => `${nameOf(entry)}@${entry[1].version}`;

/** The package that Node.js loads by the name from the path; undefined for an optional package that is absent. */
function resolve(path: string, name: string): Entry | undefined {
  for (let from = path; ; from = from.slice(0, Math.max(0, from.lastIndexOf(folder) - 1))) {
    const candidate = `${from === '' ? '' : `${from}/`}${folder}${name}`;
    const locked = packages[candidate];
    if (locked !== undefined) return locked.dev ? undefined : [candidate, locked];
    if (from === '') return undefined;
  }
}

function dependencyOf(entry: Entry) {
  const [path, { dependencies, optionalDependencies, peerDependencies }] = entry;
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  const found = names.map((name) => resolve(path, name)).filter((one) => one !== undefined);
  return { ref: refOf(entry), dependsOn: [...new Set(found.map(refOf))] };
}

function componentOf(entry: Entry) {
  const [path, { version, license, integrity, optional, devOptional }] = entry;
  const name = nameOf(entry);
  const content = integrity && Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
  return {
    'bom-ref': refOf(entry),
    type: path === '' ? 'application' : 'library',
    name,
    version,
    scope: optional || devOptional ? 'optional' : 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(content && { hashes: [{ alg: 'SHA-512', content }] }),
    ...(license && {
      licenses: [/[ (]/.test(license) ? { expression: license } : { license: { id: license } }],
    }),
  };
}

/** npm installs a package at several paths when others need other versions of it. */
const unique = [...new Map(entries.map((entry) => [refOf(entry), entry])).values()];
const [root, ...libraries] = unique.map(componentOf);
const bom = {
  $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  serialNumber: `urn:uuid:${randomUUID()}`,
  version: 1,
  metadata: { timestamp: new Date().toISOString(), lifecycles: [{ phase: 'pre-build' }], component: root },
  components: [...libraries, kissfft],
  dependencies: unique.map(dependencyOf),
};
console.log(JSON.stringify(bom, null, 2));
