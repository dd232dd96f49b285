/** npm-shrinkwrap.json of the package: locked versions and hashes of all that it needs, and those of the native packages. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { closureOf } from '../lock.ts';
import { type mainManifest, runtimeDependencies } from './manifest.ts';
import { run } from './step.ts';

/** @param native archives of the native packages: beside the unpacked package, where npm ci finds them and checks their hashes */
export function shrinkwrap(main: ReturnType<typeof mainManifest>, native: readonly string[]): object {
  const { name, version, license, engines, bin, dependencies, optionalDependencies } = main;
  const root = { name, version, license, engines, bin, dependencies, optionalDependencies };
  // The last is a dependency of the native packages.
  const locked = closureOf([...runtimeDependencies, 'onnxruntime-common']);
  const packages = { '': root, ...Object.fromEntries([...native.map(lockArchive), ...locked]) };
  return { name, version, lockfileVersion: 3, requires: true, packages };
}

function lockArchive(file: string): readonly [path: string, locked: object] {
  const {
    name,
    main: _,
    description: __,
    ...manifest
  } = JSON.parse(run('tar', ['-xzOf', file, 'package/package.json']));
  const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  return [
    `node_modules/${name}`,
    { ...manifest, resolved: `file:${basename(file)}`, integrity, optional: true },
  ];
}
