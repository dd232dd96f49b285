/** What a case needs besides the project: packages of Debian, PyPI and npm, and native code built another way than it ships. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExpectedError } from '../scripts/run-script.ts';
import { cacheFolder, root, runProgram, succeeds } from './case.ts';

function isInstalled(name: string): boolean {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query's own placeholder
  const query = spawnSync('dpkg-query', ['-W', '-f', '${db:Status-Status}', name], { encoding: 'utf8' });
  return query.stdout === 'installed';
}

/** Packages of Debian. */
export function installPackages(names: readonly string[]): void {
  const missing = names.filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  if (!succeeds('apt-get', ['--version']))
    throw new ExpectedError(
      `Expected the Debian packages ${missing.join(' ')}, got a system without apt-get`,
    );
  console.error(`installing ${missing.join(', ')}`);
  apt('update');
  apt('install', '-y', '--no-install-recommends', ...missing);
}

/** apt refuses to wait for the lock on its lists, which another clone's tests may hold. */
function apt(...args: readonly string[]): void {
  const wait = ['-o', 'DPkg::Lock::Timeout=600'];
  runProgram('flock', [
    '/var/lib/dpkg',
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'apt-get',
    ...wait,
    ...args,
  ]);
}

/** Tests in several processes may want the same at one time. */
const installVenv = `[ "$(cat "$0/installed")" = "$*" ] || {
  python3 -m venv --clear "$0" && "$0/bin/pip" install --quiet "$@" && printf %s "$*" > "$0/installed"
}`;

/** A virtual environment of Python with packages of PyPI, made anew when they have changed. @returns the folder of its programs */
export function makeVenv(name: string, packages: readonly string[]): string {
  const folder = cacheFolder(`python/${name}`);
  const stamp = join(folder, 'installed');
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== packages.join(' ')) {
    console.error(`installing ${packages.join(', ')}`);
    runProgram('flock', [folder, 'sh', '-c', installVenv, folder, ...packages]);
  }
  return join(folder, 'bin');
}

/** Packages of npm, in a git-ignored folder. @param packages NAME@VERSION; the first names the folder @returns the folder whose node_modules has them */
export function installNpm(...packages: readonly [string, ...string[]]): string {
  const folder = cacheFolder(`npm/${packages[0].replaceAll(/[@/]+/g, '-').replace(/^-/, '')}`);
  // npm writes this file last.
  if (existsSync(join(folder, 'node_modules', '.package-lock.json'))) return folder;
  console.error(`installing ${packages.join(', ')}`);
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--silent'];
  runProgram('npm', ['install', '--prefix', folder, ...options, ...packages]);
  return folder;
}

export function installTransformers(): string {
  return installNpm('@huggingface/transformers@4.3.1');
}

/** Builds native code with settings of its own. @returns the folder of what was built */
export function buildNative(
  name: string,
  settings: Readonly<Record<string, string>>,
  targets: readonly string[],
): string {
  const folder = join(root, 'build', name);
  const definitions = Object.entries(settings).map(([key, value]) => `-D${key}=${value}`);
  console.error(`building ${targets.join(', ')} in build/${name}`);
  runProgram('cmake', ['-S', root, '-B', folder, ...definitions]);
  runProgram('cmake', ['--build', folder, '--parallel', '2', '--target', ...targets]);
  return folder;
}

/** Builds benchmarks/native/NAME.cc against the core and returns the program's path. */
export function buildBenchmark(name: string): string {
  const program = `benchmark_${name}`;
  const settings = { UNDERTONE_BENCHMARKS: 'ON', CMAKE_BUILD_TYPE: 'Release' };
  return join(buildNative('benchmarks', settings, [program]), program);
}

/** The JSON lines that a program prints. */
export function parseLines<Line>(output: string): Line[] {
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Line);
}
