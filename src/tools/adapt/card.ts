/** CARD.md of an adapted model. */

import type { Manifest } from '../../engine/schema.ts';
import { comparisonRows } from '../evaluate/comparison.ts';
import type { Adaptation } from './adaptation.ts';

const listOf = (title: string, texts: readonly string[]) => [
  `## ${title}`,
  '',
  ...texts.map((text) => `- ${text}`),
  '',
];

export function adaptationCard(
  { name, version, description, training, licence, evidence }: Manifest,
  adaptation: Adaptation,
  command: string,
): string {
  const rows = comparisonRows(adaptation.comparisons).map(toRow);
  const data = training.data.map((one) => toRow([one.name, one.licence, String(one.clips)]));
  return [
    `# ${name} ${version}, adapted`,
    '',
    `${description}.`,
    '',
    '## Measured',
    '',
    `On ${adaptation.recordings} recordings of ${adaptation.speakers} speakers: each was scored by corrections that were fitted on other speakers. ` +
      'Intervals: paired bootstrap over speakers. The figures of the models before the adaptation do not hold for these weights.',
    '',
    '| figure | before | after | interval of the difference | improves |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    '## Training recordings',
    '',
    '| set | licence | clips |',
    '|---|---|---|',
    ...data,
    '',
    `Licence: ${licence}.`,
    '',
    evidence.deployment,
    '',
    ...listOf('Limits', training.limits),
    ...listOf('Known failures', evidence.failures),
    ...listOf('Intended use', evidence.intendedUse),
    ...listOf('Not intended', evidence.unintendedUse),
    '## Made by',
    '',
    '```sh',
    command,
    '```',
    '',
  ].join('\n');
}

function toRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
