/** The programs that read the files of deploy/, installed when they are absent. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, root, runProgram } from '../../benchmarks/case.ts';

/** Debian package -> the command it brings. */
const packages = {
  systemd: 'systemd-analyze',
  haproxy: 'haproxy',
  prometheus: 'promtool',
  strace: 'strace',
  debootstrap: 'debootstrap',
  'util-linux': 'unshare',
  iproute2: 'ip',
};
const validator = 'kubernetes-validate==1.37.0';

export function installPackages(): void {
  const missing = Object.entries(packages).filter(
    ([, tool]) => !succeeds(['sh', '-c', `command -v ${tool}`]),
  );
  if (missing.length === 0) return;
  const names = missing.map(([name]) => name);
  runProgram('apt-get', ['update']);
  const options = ['DEBIAN_FRONTEND=noninteractive', 'apt-get', 'install', '-y', '--no-install-recommends'];
  runProgram('env', [...options, ...names]);
}

/** Checks manifests against the schemas it carries, without a cluster. */
export function installKubernetesValidator(): string {
  const folder = join(cacheFolder('kubernetes'), 'venv');
  const program = join(folder, 'bin', 'kubernetes-validate');
  if (!existsSync(program)) {
    runProgram('python3', ['-m', 'venv', folder]);
    runProgram(join(folder, 'bin', 'pip'), ['install', '--quiet', validator]);
  }
  return program;
}

export function succeeds([program = '', ...args]: readonly string[]): boolean {
  return spawnSync(program, args, { cwd: root, stdio: 'ignore' }).status === 0;
}

/** Whatever it printed, on both streams, and however it ended. */
export function output([program = '', ...args]: readonly string[]): string {
  const { stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: 'utf8' });
  return `${stdout}${stderr}`;
}
