/** A virtual environment with what the tests of the Python client need. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const folder = resolve('.cache/python-client');
const requirements = 'clients/python/requirements-test.txt';

/** Made when its requirements have changed. */
export function makeVenv(): string {
  const stamp = join(folder, 'requirements.txt');
  const wanted = readFileSync(requirements, 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return folder;
  execFileSync('python3', ['-m', 'venv', '--clear', folder], { stdio: 'pipe' });
  execFileSync(join(folder, 'bin/pip'), ['install', '--quiet', '-r', requirements], { stdio: 'pipe' });
  writeFileSync(stamp, wanted);
  return folder;
}
