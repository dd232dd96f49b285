/**
 * The published packages: package.json of each, made from the one that developers use, npm-shrinkwrap.json and the licences of
 * the bundle. Writes them to folders and packs them; npm's archives hold neither times nor owners.
 */

import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { closureOf } from '../lock.ts';
import { addons } from './addon.ts';
import { switches } from './libraries.ts';
import { sources } from './sources.ts';
import { filesUnder, root, run } from './step.ts';
import { type Arch, glibc } from './toolchain.ts';

export const arches: readonly Arch[] = ['x64', 'arm64'];

/** Packages that the bundle in dist/src does not hold; docs/start.md states the reason of each. */
export const runtimeDependencies = ['libsql', 'pg', 'pino', 'piscina', 'zod'] as const;

type Manifest = {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
};

const addonPackage = (arch: Arch) => `@undertone/linux-${arch}`;
const runtimePackage = (arch: Arch) => `@undertone/onnxruntime-linux-${arch}`;

export function mainManifest(root: Manifest) {
  const { name, version, description, license, type, engines, bin, exports, dependencies } = root;
  const native = arches.flatMap((arch) => [addonPackage(arch), runtimePackage(arch)]);
  return {
    ...{ name, version, description, license, type, engines, bin, exports },
    files: ['dist', 'models', 'CHANGELOG.md', 'NOTICE', 'THIRD-PARTY-NOTICES.txt', 'npm-shrinkwrap.json'],
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

/** @param native archives of the native packages: next to the unpacked package, where npm ci finds them and checks their hashes */
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

type LockedPackage = {
  readonly dev?: true;
  readonly optional?: true;
  readonly version: string;
  readonly license?: string;
};

/** One section per locked package that is not for development. */
export function thirdPartyNotices(): string {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const sections = Object.entries(lock.packages as Readonly<Record<string, LockedPackage>>)
    .filter(
      ([folder, { dev, optional }]) => folder !== '' && !dev && !optional && existsSync(join(root, folder)),
    )
    .map(([folder, { version, license }]) => {
      const texts = readdirSync(join(root, folder))
        .filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
        .sort()
        .map((name) => readFileSync(join(root, folder, name), 'utf8').trim());
      const name = folder.split('node_modules/').at(-1);
      return [`${name} ${version} (${license ?? 'see below'})`, ...texts].join('\n\n');
    });
  return `${[...new Set(sections)].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

const read = (file: string) => readFileSync(join(root, file), 'utf8');
export const readManifest = () => JSON.parse(read('package.json')) as Manifest;

/** @param files paths in the package -> their source, or their text */
function pack(
  cache: string,
  output: string,
  manifest: { readonly name: unknown },
  files: Readonly<Record<string, { readonly copy: string } | string>>,
): string {
  const folder = join(cache, 'packages', String(manifest.name));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    if (typeof content === 'string') writeFileSync(join(folder, path), content);
    else cpSync(content.copy, join(folder, path), { recursive: true, dereference: true });
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  // npm keeps the mode for executables.
  for (const file of filesUnder(folder)) chmodSync(file, basename(file) === 'cli.js' ? 0o755 : 0o644);
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', output], { cwd: folder }));
  return join(output, packed.filename);
}

const addonReadme = (arch: Arch) => `# Native code of undertone for Linux on ${arch}

undertone.node and undertone_process.node need glibc ${glibc} or later. They are Apache-2.0; the first holds kissfft
(BSD-3-Clause). In the same folder are shared libraries under the LGPL, version 2.1 or later; \`licenses/\` has the texts:

- FFmpeg (libavcodec, libavformat, libavutil, libswresample), from Debian's source package ffmpeg ${sources.ffmpeg.version}
- soxr (libsoxr), from Debian's source package libsoxr ${sources.libsoxr.version}

\`apt-get source ffmpeg=${sources.ffmpeg.version} libsoxr=${sources.libsoxr.version}\` on Debian 12 fetches the sources, and
\`npm run prebuild\` in the repository of undertone builds them. To use another build of a library, replace its file here by one with the same name and interface:
undertone.node finds them in its own folder. FFmpeg is configured with

    ./configure ${switches}
`;

export function packAddon(
  cache: string,
  output: string,
  arch: Arch,
  built: string,
  libraries: string,
): string {
  const names = [
    'libavcodec.so.59',
    'libavformat.so.59',
    'libavutil.so.57',
    'libswresample.so.4',
    'libsoxr.so.0',
  ];
  const shared = names.map((name) => [name, { copy: join(libraries, 'usr/lib', name) }] as const);
  const native = addons
    .map((target) => `${target}.node`)
    .map((name) => [name, { copy: join(built, name) }] as const);
  return pack(cache, output, addonManifest(readManifest(), arch), {
    ...Object.fromEntries([...native, ...shared]),
    'README.md': addonReadme(arch),
    LICENSE: read('LICENSE'),
    'licenses/ffmpeg.txt': { copy: join(libraries, 'ffmpeg/COPYING.LGPLv2.1') },
    'licenses/soxr.txt': { copy: join(libraries, 'COPYING.soxr') },
    'licenses/kissfft.txt': { copy: join(root, 'native/third_party/kissfft/COPYING') },
  });
}

export function packRuntime(cache: string, output: string, arch: Arch): string {
  const source = join(root, 'node_modules/onnxruntime-node');
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const scripts = filesUnder(join(source, 'dist')).filter((file) => file.endsWith('.js'));
  const binaries = `bin/napi-v6/linux/${arch}`;
  return pack(cache, output, runtimeManifest(readManifest(), arch, version), {
    ...Object.fromEntries(scripts.map((file) => [`dist/${basename(file)}`, { copy: file }])),
    [binaries]: { copy: join(source, binaries) },
    'README.md': `# ONNX Runtime of undertone

onnxruntime-node ${version} (MIT, Microsoft Corporation, https://github.com/microsoft/onnxruntime), with the files for Linux
on ${arch} alone and without its install script. undertone loads it.
`,
  });
}

/** @param native archives of `packAddon` and `packRuntime`, whose hashes the package pins */
export function packMain(cache: string, output: string, native: readonly string[]): string {
  const manifest = mainManifest(readManifest());
  return pack(cache, output, manifest as { readonly name: unknown }, {
    'npm-shrinkwrap.json': `${JSON.stringify(shrinkwrap(manifest, native), null, 2)}\n`,
    'dist/src': { copy: join(root, 'dist/src') },
    'dist/web': { copy: join(root, 'dist/web') },
    models: { copy: join(root, 'models') },
    'README.md': read('README.md'),
    'CHANGELOG.md': read('CHANGELOG.md'),
    LICENSE: read('LICENSE'),
    NOTICE: read('NOTICE'),
    'THIRD-PARTY-NOTICES.txt': thirdPartyNotices(),
  });
}
