/** Debian packages that a case needs. */
import { spawnSync } from 'node:child_process';
import { ExpectedError } from '../scripts/run-script.ts';
import { runProgram, succeeds } from './case.ts';

function isInstalled(name: string): boolean {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query's own placeholder
  const query = spawnSync('dpkg-query', ['-W', '-f', '${db:Status-Status}', name], { encoding: 'utf8' });
  return query.stdout === 'installed';
}

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
