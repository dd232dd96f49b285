/** The programs that read the files of deploy/, installed when they are absent. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, runProgram } from '../../benchmarks/case.ts';

export const packages = [
  'systemd',
  'haproxy',
  'prometheus',
  'strace',
  'debootstrap',
  'util-linux',
  'iproute2',
];
const validator = 'kubernetes-validate==1.37.0';

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
