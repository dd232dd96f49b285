/** An audit as Markdown. */
import { cpus, release, type } from 'node:os';
import type { Software } from '../receipts/receipt.ts';
import { tolerance } from '../receipts/verify.ts';
import { type Audit, type GoldenRow, hasPassed, type RecordingRow } from './audit.ts';
import { type FigureRow, figureTolerance } from './figures.ts';

export function toMarkdown(audit: Audit, at: Date): string {
  const { software, manifests, goldens, recordings, figures } = audit;
  return [
    `# Audit of Undertone ${software.undertone}, ${at.toISOString()}`,
    hasPassed(audit) ? 'Passed: everything below agrees.' : '**Failed**: see the rows that say `different`.',
    '## Machine and software',
    table(['what', 'version'], softwareRows(software)),
    '## Models',
    'Each model on the synthetic signal of its `golden.json`.',
    table(
      ['model', 'version', 'SHA-256 of the weights', 'outcome'],
      goldens.map((row) => {
        const manifest = manifests.find(({ kind }) => kind === row.model);
        return [row.model, manifest?.version ?? '', manifest?.weights.sha256 ?? '', describeGolden(row)];
      }),
    ),
    '## Recordings',
    recordings === null
      ? 'Not run: these models have no `failures.json`.'
      : `The recordings of \`models/failures\` against the scores in \`failures.json\`; tolerance ${tolerance}.\n\n${table(
          ['recording', 'outcome'],
          recordings.map((row) => [row.file, describeRecording(row)]),
        )}`,
    '## Figures',
    figures === null
      ? 'Not run: no labelled recordings (`--data`).'
      : `The figures of the cards, measured again on the test part; tolerance ${figureTolerance}.\n\n${table(
          ['model', 'figure', 'of', 'card', 'here', 'outcome'],
          figures.map(toCells),
        )}`,
    '',
  ].join('\n\n');
}

function softwareRows({ node, features_version, libraries, kernel }: Software): string[][] {
  const { architecture, lanes, exact_int8 } = kernel;
  return [
    ['processor', cpus()[0]?.model ?? 'unknown'],
    ['code path', `${architecture}, ${lanes} frames at a time, int8 ${exact_int8 ? 'exact' : 'saturating'}`],
    ['system', `${type()} ${release()}`],
    ['Node.js', node],
    ['features', String(features_version)],
    ...Object.entries(libraries).map(([name, version]) => [name, version]),
  ];
}

function describeGolden({ outcome, differences }: GoldenRow): string {
  return differences.length === 0 ? outcome : `${outcome}: ${differences.slice(0, 3).join('; ')}`;
}

function describeRecording({ outcome, field, difference }: RecordingRow): string {
  if (outcome === 'identical') return outcome;
  return `${outcome}: ${field} ${Number.isFinite(difference) ? `by ${difference.toFixed(4)}` : 'in words'}`;
}

function toCells({ model, figure, group, expected, got, difference }: FigureRow): string[] {
  const outcome =
    difference === 0 ? 'identical' : difference <= figureTolerance ? 'within tolerance' : 'different';
  return [model, figure, group, expected.toFixed(3), got.toFixed(3), outcome];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
}
