/** CARD.md of an adapted model. */
import type { Manifest } from '../models/manifest.ts';
import type { Adaptation } from './adapt.ts';
import { comparisonRows } from './text.ts';
import type { Source } from './write-models.ts';

export function adaptationCard(
  { name, version, description, training, licence, evidence }: Manifest,
  adaptation: Adaptation,
  { command }: Source,
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
    '## Limits',
    '',
    ...training.limits.map((text) => `- ${text}`),
    '',
    '## Known failures',
    '',
    ...evidence.failures.map((text) => `- ${text}`),
    '',
    '## Intended use',
    '',
    ...evidence.intendedUse.map((text) => `- ${text}`),
    '',
    '## Not intended',
    '',
    ...evidence.unintendedUse.map((text) => `- ${text}`),
    '',
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
