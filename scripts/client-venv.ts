/** Virtual environments with what the tests of the Python client, and of its examples for voice agents, need. */
import { readFileSync } from 'node:fs';
import { makeVenv } from '../benchmarks/packages.ts';

const requirements = 'clients/python/requirements-test.txt';
/** Frameworks for voice agents with an example. */
export const agents = ['pipecat', 'livekit'];

export function agentFolder(agent: string): string {
  return `clients/python/examples/${agent}`;
}

function packages(): string[] {
  const lines = readFileSync(requirements, 'utf8').split('\n');
  return lines.filter((line) => /^\w/.test(line));
}

export function clientVenv(): string {
  return makeVenv('client', packages());
}

export function agentVenv(agent: string): string {
  const project = readFileSync(`${agentFolder(agent)}/pyproject.toml`, 'utf8');
  const [dependencies = ''] = /^dependencies = .*$/m.exec(project) ?? [];
  return makeVenv(agent, [...packages(), ...(dependencies.match(/[\w-]+==[\d.]+/g) ?? [])]);
}
