/** Steps of `npm run prebuild`: each writes a folder named by its inputs and is skipped while that folder exists. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ExpectedError } from '../run-script.ts';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** @param tools the Debian package of each, by name @throws ExpectedError when one is not on the path */
export function requireTools(tools: Readonly<Record<string, string>>): void {
  const missing = Object.keys(tools).filter(
    (tool) => spawnSync('sh', ['-c', 'command -v "$0"', tool]).status !== 0,
  );
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((tool) => tools[tool]))].join(' ');
  throw new ExpectedError(
    `Expected ${missing.join(', ')} on the path, got none: install the Debian packages ${packages}`,
  );
}

type RunOptions = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> };

/** Returns standard output. @throws ExpectedError with the end of the output when the command fails */
export function run(
  command: string,
  args: readonly string[],
  { cwd = root, env = {} }: RunOptions = {},
): string {
  const options = { cwd, env: { ...process.env, ...env }, encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
  const result = spawnSync(command, args, options);
  if (result.error) throw new ExpectedError(`\`${command}\` could not be run: ${result.error.message}`);
  if (result.status === 0) return result.stdout;
  const output = `${result.stdout}\n${result.stderr}`.trim().split('\n').slice(-40).join('\n');
  throw new ExpectedError(`\`${[command, ...args].join(' ')}\` failed in ${cwd}:\n${output}`);
}

export function filesUnder(path: string): string[] {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesUnder(join(path, name)));
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Hashes names, relative to the repository, and contents. */
export function digest(paths: readonly string[]): string {
  const files = paths.flatMap((path) => filesUnder(join(root, path)));
  return sha256(files.map((file) => `${file.slice(root.length)} ${sha256(readFileSync(file))}\n`).join(''));
}

/** @param inputs everything that the result depends on */
export function step(
  cache: string,
  name: string,
  inputs: readonly string[],
  work: (folder: string) => void,
): string {
  const folder = join(cache, `${name}-${sha256(inputs.join('\n')).slice(0, 12)}`);
  const done = join(folder, '.done');
  if (statSync(done, { throwIfNoEntry: false })) return folder;
  const started = Date.now();
  process.stderr.write(`${name} ...\n`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  work(folder);
  writeFileSync(`${done}.part`, '');
  renameSync(`${done}.part`, done);
  process.stderr.write(`${name}: done in ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
  return folder;
}
