/** Where a figure comes from: the commit and the machine it was measured on. */
import { availableParallelism, cpus } from 'node:os';
import { runProgram } from './case.ts';

export type Provenance = {
  readonly commit: string;
  readonly date: string;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string };
};

/** What the commands themselves write. */
const written = [
  'benchmarks/results',
  'docs/benchmarks.md',
  'test/reliability/results',
  'docs/reliability.md',
  'README.md',
];

export function provenance(): Provenance {
  const hash = runProgram('git', ['rev-parse', '--short=12', 'HEAD']).trim();
  const files = ['--', '.', ...written.map((path) => `:!${path}`)];
  const changed =
    runProgram('git', ['status', '--porcelain', '--untracked-files=no', ...files]).trim() !== '';
  return {
    commit: changed ? `${hash} with changes` : hash,
    date: new Date().toISOString(),
    machine: { cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism(), node: process.version },
  };
}

/** One line for the page that shows the figures. */
export function describeProvenance({ commit, date, machine }: Provenance): string {
  return `commit ${commit}, ${date.slice(0, 10)}, ${machine.cores} cores of ${machine.cpu}, Node ${machine.node}`;
}
