/** A report as a few lines of text. */
import { definitions } from '../analysis/signals/table.ts';
import type { Report } from '../index.ts';
import { reportsOf, warningsOf } from './csv.ts';

const labelWidth = 16;

export function describeReport(path: string, report: Report): string {
  const { speech_s, duration_s, container, codec } = report.audio;
  const warnings = warningsOf(report);
  const lines = [
    path,
    `  ${speech_s.toFixed(1)} s of speech in ${duration_s.toFixed(1)} s, ${container} ${codec}`,
    ...reportsOf(report).flatMap(([signal, { status, signals }]) => {
      if (status !== 'ok') return [`  ${signal}: ${status}`];
      return definitions[signal]
        .describe(signals)
        .map(([label, value]) => `  ${label.padEnd(labelWidth)}${value}`);
    }),
    ...(warnings.length === 0 ? [] : [`  warnings: ${warnings.join(', ')}`]),
  ];
  return lines.join('\n');
}
