/** Virtual environments with what the tests of the Python client, and of its Pipecat example, need. */
import { readFileSync } from 'node:fs';
import { makeVenv } from '../benchmarks/python.ts';

const requirements = 'clients/python/requirements-test.txt';
export const pipecatExample = 'clients/python/examples/pipecat';

function packages(): string[] {
  const lines = readFileSync(requirements, 'utf8').split('\n');
  return lines.filter((line) => /^\w/.test(line));
}

export function clientVenv(): string {
  return makeVenv('client', packages());
}

export function pipecatVenv(): string {
  const project = readFileSync(`${pipecatExample}/pyproject.toml`, 'utf8');
  return makeVenv('pipecat', [...packages(), ...(project.match(/pipecat-ai==[\d.]+/g) ?? [])]);
}
