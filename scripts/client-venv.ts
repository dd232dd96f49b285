/** A virtual environment with what the tests of the Python client need. */
import { readFileSync } from 'node:fs';
import { makeVenv } from '../benchmarks/python.ts';

const requirements = 'clients/python/requirements-test.txt';

export function clientVenv(): string {
  const lines = readFileSync(requirements, 'utf8').split('\n');
  return makeVenv(
    'client',
    lines.filter((line) => /^\w/.test(line)),
  );
}
