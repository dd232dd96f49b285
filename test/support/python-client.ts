/** The Python client, installed in a folder of its own. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { clientVenv } from '../../scripts/client-venv.ts';
import { clients } from '../../scripts/clients.ts';
import { makeFolder } from './folder.ts';

/** @returns the folder of the installed package */
export function installPythonClient(): string {
  const folder = makeFolder();
  // pip leaves its build in the folder that it is given.
  cpSync(clients.python, join(folder, 'client'), { recursive: true });
  const pip = ['install', '--quiet', '--no-build-isolation', '--no-deps', '--target', join(folder, 'site')];
  execFileSync(join(clientVenv(), 'pip'), [...pip, join(folder, 'client')], { stdio: 'pipe' });
  return join(folder, 'site');
}

/** Runs a file of tests, and returns its output. @throws with the output of tests that fail */
export async function runPython(file: string, env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(join(clientVenv(), 'python'), ['-W', 'error', `test/clients/${file}`], {
    env: { PYTHONPATH: installPythonClient(), ...env },
  });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(output);
  return output;
}
