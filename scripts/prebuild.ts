/**
 * Builds the packages that npm installs without a compiler, into dist/packages:
 *   npm run prebuild [-- --sources FOLDER] [-- --check]
 * `--sources` names a folder with the files of Debian's source packages, for machines without apt. `--check` builds
 * everything twice in different folders and compares the hashes.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildAddons } from './prebuild/addon.ts';
import { buildLibraries } from './prebuild/libraries.ts';
import { arches, packAddon, packMain, packRuntime } from './prebuild/packages.ts';
import { unpackSource } from './prebuild/sources.ts';
import { requireTools, root, run, sha256 } from './prebuild/step.ts';
import { createToolchain } from './prebuild/toolchain.ts';
import { ExpectedError, runScript } from './run-script.ts';

const tools: Readonly<Record<string, string>> = {
  'dpkg-source': 'dpkg-dev',
  cmake: 'cmake',
  make: 'make',
  nasm: 'nasm',
  nm: 'binutils',
  patch: 'patch',
  'pkg-config': 'pkg-config',
  python3: 'python3-venv',
};

/** Returns the paths of the archives. */
function buildPackages(cache: string, output: string, given: string | null): string[] {
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  const trees = {
    ffmpeg: unpackSource(cache, 'ffmpeg', given),
    libsoxr: unpackSource(cache, 'libsoxr', given),
  };
  const native = arches.flatMap((arch) => {
    const toolchain = createToolchain(cache, arch);
    const libraries = buildLibraries(cache, arch, toolchain, trees);
    const addons = buildAddons(cache, arch, toolchain, libraries);
    return [packAddon(cache, output, arch, addons, libraries), packRuntime(cache, output, arch)];
  });
  return [packMain(cache, output, native), ...native];
}

function main(): void {
  const { values } = parseArgs({
    options: { sources: { type: 'string' }, check: { type: 'boolean', default: false } },
  });
  const given = values.sources ?? null;
  const apt = { 'apt-get': 'apt (or name a folder with the sources by --sources)' };
  requireTools(given === null ? { ...tools, ...apt } : tools);
  run('npm', ['run', '--ignore-scripts', 'build']);
  const packages = buildPackages(join(root, '.cache/prebuild'), join(root, 'dist/packages'), given);
  const hashes = packages.map((file) => `${sha256(readFileSync(file))}  ${basename(file)}`);
  for (const [index, file] of packages.entries()) {
    const megabytes = readFileSync(file).length / 1e6;
    console.log(`${hashes[index]}  ${megabytes.toFixed(1)} MB`);
  }
  if (!values.check) return;
  const cache = mkdtempSync(join(tmpdir(), 'undertone-prebuild-'));
  try {
    run('npm', ['run', '--ignore-scripts', 'build']);
    const again = buildPackages(cache, join(cache, 'output'), given);
    const different = again.filter(
      (file) => !hashes.includes(`${sha256(readFileSync(file))}  ${basename(file)}`),
    );
    if (different.length > 0)
      throw new ExpectedError(
        `Expected equal hashes, got other ones for ${different.map((file) => basename(file)).join(', ')}`,
      );
    console.log('a second build in another folder has the same hashes');
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
}

await runScript(main);
