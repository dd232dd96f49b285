/**
 * Prints what the service is made of, for `npm run sbom`: CycloneDX, the packages that an installation runs with.
 * It is made from the lock file: the npm of Debian 13 has no `npm sbom`.
 */
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { dependenciesOf, type Entry, entries, nameOf } from './lock.ts';
import { runScript } from './run-script.ts';

/** Compiled in from native/third_party, so npm does not list it. */
const kissfft = {
  'bom-ref': 'kissfft@131.1.0',
  type: 'library',
  name: 'kissfft',
  version: '131.1.0',
  purl: 'pkg:github/mborgerding/kissfft@131.1.0',
  licenses: [{ license: { id: 'BSD-3-Clause' } }],
};

const refOf = (entry: Entry): string => `${nameOf(entry)}@${entry[1].version}`;

function dependencyOf(entry: Entry) {
  return { ref: refOf(entry), dependsOn: [...new Set(dependenciesOf(entry).map(refOf))] };
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

await runScript(() => {
  parseArgs();
  // npm installs a package at several paths when others need other versions of it.
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
});
