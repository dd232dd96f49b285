/** Writes docs/results/reliability.md from test/reliability/results. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  describeProvenance,
  markdownTable,
  type Provenance,
  readResults,
  root,
} from '../../benchmarks/case.ts';
import type { Row } from './case.ts';
import { notes } from './notes.ts';

type Result = Provenance & {
  readonly case: string;
  readonly seed: number;
  readonly seconds: number;
  readonly rows: readonly Row[];
};

export const resultsFolder = join(root, 'test', 'reliability', 'results');

const introduction = `# Results: reliability

Each section is one command: it starts the service, attacks it, and exits non-zero when a goal is missed. The default is a short
form for machines with other load: it compares times with others of the same run, while the bounds on times hold in \`--long\`.
The figures below are of \`--long\`. A row named *negative control* runs the same check on an injected fault, which it must
find. \`npm run reliability -- tables\` writes this page from \`test/reliability/results\`.`;

export function showValue(value: number | null): string {
  if (value === null) return '-';
  if (Number.isInteger(value)) return value.toLocaleString('en');
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function section(result: Result): string {
  const body = result.rows.map((row) => {
    const verdict = row.met ? 'met' : '**missed**';
    return [row.name, row.unit, showValue(row.value), row.goal, row.goal === 'none' ? '' : verdict, row.note];
  });
  return [
    `## ${result.case}`,
    ...(notes[result.case] === undefined ? [] : [notes[result.case]]),
    `\`npm run reliability -- ${result.case} --long --seed ${result.seed}\`, ${result.seconds} s, ${describeProvenance(result)}.`,
    markdownTable(['Figure', 'Unit', 'Value', 'Goal', '', 'Note'], body),
  ].join('\n\n');
}

export function writePage(): void {
  const results = readResults<Result>(resultsFolder);
  const text = [introduction, ...results.map(section)].join('\n\n');
  writeFileSync(join(root, 'docs', 'results', 'reliability.md'), `${text}\n`);
}
