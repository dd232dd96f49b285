/** The package.json of each published package, made from the one that developers use. */
import type { Arch } from './toolchain.ts';

export const arches: readonly Arch[] = ['x64', 'arm64'];

/** Packages that the bundle in dist/src does not hold; docs/start.md states the reason of each. */
export const runtimeDependencies = ['libsql', 'pg', 'pino', 'piscina', 'zod'] as const;

export type Manifest = {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
};

export const addonPackage = (arch: Arch) => `@undertone/linux-${arch}`;
export const runtimePackage = (arch: Arch) => `@undertone/onnxruntime-linux-${arch}`;

export function mainManifest(root: Manifest) {
  const { name, version, description, license, type, engines, bin, exports, dependencies } = root;
  const native = arches.flatMap((arch) => [addonPackage(arch), runtimePackage(arch)]);
  return {
    ...{ name, version, description, license, type, engines, bin, exports },
    files: ['dist', 'models', 'CHANGELOG.md', 'THIRD-PARTY-NOTICES.txt', 'npm-shrinkwrap.json'],
    dependencies: Object.fromEntries(
      runtimeDependencies.map((dependency) => [dependency, dependencies[dependency]]),
    ),
    optionalDependencies: Object.fromEntries(native.map((dependency) => [dependency, version])),
  };
}

const platform = (arch: Arch) => ({ os: ['linux'], cpu: [arch], libc: ['glibc'] });

export function addonManifest({ version, engines }: Manifest, arch: Arch) {
  return {
    name: addonPackage(arch),
    version,
    description: `Native code of undertone for Linux on ${arch}, with FFmpeg and soxr`,
    license: 'Apache-2.0 AND LGPL-2.1-or-later AND BSD-3-Clause',
    engines,
    ...platform(arch),
    main: 'undertone.node',
  };
}

export function runtimeManifest({ version, engines }: Manifest, arch: Arch, onnxruntime: string) {
  return {
    name: runtimePackage(arch),
    version,
    description: `onnxruntime-node ${onnxruntime} for Linux on ${arch} alone, without an install script`,
    license: 'MIT',
    engines,
    ...platform(arch),
    main: 'dist/index.js',
    dependencies: { 'onnxruntime-common': onnxruntime },
  };
}
