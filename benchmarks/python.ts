/** Python packages in a virtual environment of their own. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, runProgram } from './case.ts';

/** Tests in several processes may want the same at one time. */
const install = `[ "$(cat "$0/installed")" = "$*" ] || {
  python3 -m venv --clear "$0" && "$0/bin/pip" install --quiet "$@" && printf %s "$*" > "$0/installed"
}`;

/** Made anew when the packages have changed. @returns the folder of its programs */
export function makeVenv(name: string, packages: readonly string[]): string {
  const folder = cacheFolder(`python/${name}`);
  const stamp = join(folder, 'installed');
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== packages.join(' ')) {
    console.error(`installing ${packages.join(', ')}`);
    runProgram('flock', [folder, 'sh', '-c', install, folder, ...packages]);
  }
  return join(folder, 'bin');
}
