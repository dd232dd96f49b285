/** The bill of materials: whole, and of what runs alone. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'ava';
import { version } from '../src/node/paths.ts';

type Locked = { readonly version: string; readonly dev?: true; readonly devOptional?: true };
type Dependency = { readonly ref: string; readonly dependsOn: readonly string[] };
type Component = {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly 'bom-ref': string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
};

const run = () =>
  execFileSync('npm', ['run', '--silent', 'sbom'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
const bom = JSON.parse(run());
const listed: readonly Component[] = bom.components;
/** Its sources are in native/third_party. */
const isVendored = ({ name }: Component) => name === 'kissfft';
const components = listed.filter((component) => !isVendored(component));
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));

test('it is CycloneDX, and every reference in it leads somewhere', (t) => {
  t.is(bom.$schema, 'http://cyclonedx.org/schema/bom-1.5.schema.json');
  t.like(bom, { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 });
  t.regex(bom.serialNumber, /^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  const { component } = bom.metadata;
  t.like(component, { type: 'application', name: 'undertone', purl: `pkg:npm/undertone@${version}` });
  const references = [component, ...listed].map((one) => one['bom-ref']);
  t.is(new Set(references).size, references.length);
  for (const { ref, dependsOn } of bom.dependencies) {
    for (const name of [ref, ...dependsOn]) t.true(references.includes(name), name);
  }
  for (const { purl, hashes = [] } of components) {
    t.regex(purl, /^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d/);
    for (const { alg, content } of hashes) t.true(alg === 'SHA-512' && /^[0-9a-f]{128}$/.test(content), purl);
  }
});

test('it names every package that is installed without those for development, and no other', (t) => {
  const locked = Object.entries(lock.packages as Readonly<Record<string, Locked>>)
    .filter(([path, { dev }]) => path !== '' && dev === undefined)
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`);
  t.deepEqual(
    [...new Set(components.map(({ name, version }) => `${name}@${version}`))].sort(),
    [...new Set(locked)].sort(),
  );
  for (const name of Object.keys(lock.packages[''].dependencies))
    t.true(
      locked.some((one) => one.startsWith(`${name}@`)),
      name,
    );
});

test('every package is a dependency of the project or of another', (t) => {
  const dependencies = new Map<string, readonly string[]>(
    bom.dependencies.map(({ ref, dependsOn }: Dependency) => [ref, dependsOn]),
  );
  const reached = new Set<string>([bom.metadata.component['bom-ref']]);
  for (const ref of reached) for (const other of dependencies.get(ref) ?? []) reached.add(other);
  t.deepEqual(
    components.map((component) => component['bom-ref']).filter((ref) => !reached.has(ref)),
    [],
  );
});

test('it names kissfft with the version that its folder states', (t) => {
  const readme = readFileSync('native/third_party/kissfft/README.md', 'utf8');
  const version = /^# kissfft (\S+)$/m.exec(readme)?.[1];
  t.deepEqual(
    listed.filter(isVendored).map((component) => component.version),
    [version],
  );
});
