/** Debian packages that a case needs. */
import { spawnSync } from 'node:child_process';
import { runProgram } from './case.ts';

function isInstalled(name: string): boolean {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query's own placeholder
  const query = spawnSync('dpkg-query', ['-W', '-f', '${db:Status-Status}', name], { encoding: 'utf8' });
  return query.stdout === 'installed';
}

export function installPackages(names: readonly string[]): void {
  const missing = names.filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  console.error(`installing ${missing.join(', ')}`);
  runProgram('apt-get', ['update']);
  const install = ['DEBIAN_FRONTEND=noninteractive', 'apt-get', 'install', '-y', '--no-install-recommends'];
  runProgram('env', [...install, ...missing]);
}
