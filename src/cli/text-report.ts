/** A report as a few lines of text. */
import { definitions } from '../analysis/signals/table.ts';
import type { Report } from '../index.ts';
import type { AnalyzeResult } from './analyze-thread.ts';
import { reportsOf, warningsOf } from './wide.ts';

const labelWidth = 16;

export function describeReport(path: string, report: Report): string {
  const { speech_s, duration_s, container, codec } = report.audio;
  const warnings = warningsOf(report);
  const lines = [
    path,
    `  ${speech_s.toFixed(1)} s of speech in ${duration_s.toFixed(1)} s, ${container} ${codec}`,
    ...reportsOf(report).flatMap(([signal, own]) => {
      if (own.status === 'not_available') return [`  ${signal}: ${own.status}: ${own.reason}`];
      if (own.status !== 'ok') return [`  ${signal}: ${own.status}`];
      return definitions[signal]
        .describe(own.signals)
        .map(([label, value]) => `  ${label.padEnd(labelWidth)}${value}`);
    }),
    ...(warnings.length === 0 ? [] : [`  warnings: ${warnings.join(', ')}`]),
  ];
  return lines.join('\n');
}

/** Lines after those of the channels; empty for other results. */
export function describeConversation(result: AnalyzeResult): string {
  if ('error' in result || !('conversation' in result.report)) return '';
  const { talk_share, overlap_s, interruptions } = result.report.conversation;
  const lines = [
    ['talk share', talk_share.map((share) => `${Math.round(100 * share)} %`).join(', ')],
    ['overlap', `${overlap_s.toFixed(1)} s`],
    ['interruptions', interruptions.join(', ')],
  ];
  return `\n  conversation\n${lines.map(([label = '', value]) => `  ${label.padEnd(labelWidth)}${value}`).join('\n')}`;
}
