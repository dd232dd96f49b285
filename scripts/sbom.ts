/** Prints what the service is made of, for `npm run sbom`: CycloneDX, the packages that an installation runs with. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

type Property = { readonly name: string; readonly value: string };
type Component = {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly properties?: readonly Property[];
};
type Dependency = { readonly ref: string; readonly dependsOn: readonly string[] };
type Bom = {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
};

/** Compiled in from native/third_party, so npm does not list it. */
const kissfft = {
  'bom-ref': 'kissfft@131.1.0',
  type: 'library',
  name: 'kissfft',
  version: '131.1.0',
  purl: 'pkg:github/mborgerding/kissfft@131.1.0',
  licenses: [{ license: { id: 'BSD-3-Clause' } }],
};

const isForDevelopment = ({ properties = [] }: Component): boolean =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true');

/** npm's own `--omit dev` leaves out packages that something else needs for its development too. */
function withoutDevelopment(bom: Bom, name: string): Bom {
  const components = bom.components.filter((component) => !isForDevelopment(component));
  const kept = new Set([bom.metadata.component, ...components].map((component) => component['bom-ref']));
  const dependencies = bom.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
  // npm calls the project by its folder.
  const metadata = { ...bom.metadata, component: { ...bom.metadata.component, name } };
  return { ...bom, metadata, components, dependencies };
}

const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
const whole = execFileSync('npm', args, {
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const { name } = JSON.parse(readFileSync('package.json', 'utf8')) as { name: string };
const bom = withoutDevelopment(JSON.parse(whole) as Bom, name);
console.log(JSON.stringify({ ...bom, components: [...bom.components, kissfft] }, null, 2));
