/** A report as a few lines of text. */

import { definitions, warnings } from '../engine/schema.ts';
import type { AnalyzeResult } from './analyze-thread.ts';
import { reportsOf, warningsOf } from './columns.ts';
import type { Report } from './index.ts';

const labelWidth = 16;

const lineOf = (label: string, value: string) => `  ${label.padEnd(labelWidth)}${value}`;

export function describeReport(path: string, report: Report): string {
  const { speech_s, duration_s, container, codec } = report.audio;
  const lines = [
    path,
    `  ${speech_s.toFixed(1)} s of speech in ${duration_s.toFixed(1)} s, ${container} ${codec}`,
    ...reportsOf(report).flatMap(([signal, signalReport]) => {
      if (signalReport.status === 'not_available') return [lineOf(signal, signalReport.reason)];
      if (signalReport.status !== 'ok') return [lineOf(signal, 'too little speech')];
      return definitions[signal].describe(signalReport).map(([label, value]) => lineOf(label, value));
    }),
    ...warningsOf(report).map((name) => lineOf('warning', `${warnings[name].text} (${name})`)),
  ];
  return lines.join('\n');
}

/** Lines after those of the channels or speakers; empty for other results. */
export function describeConversation(result: AnalyzeResult): string {
  if ('error' in result || !('conversation' in result.report) || !result.report.conversation) return '';
  const { talk_share, overlap_s, interruptions } = result.report.conversation;
  const unassigned = 'unassigned' in result.report ? result.report.unassigned : null;
  const seconds = unassigned?.reduce((sum, { start_s, end_s }) => sum + end_s - start_s, 0);
  const lines = [
    ['talk share', talk_share.map((share) => `${Math.round(100 * share)} %`).join(', ')],
    ...(seconds === undefined
      ? [
          ['overlap', `${overlap_s.toFixed(1)} s`],
          ['interruptions', interruptions.join(', ')],
        ]
      : [['speaker unclear', `${seconds.toFixed(1)} s`]]),
  ];
  return `\n  conversation\n${lines.map(([label = '', value = '']) => lineOf(label, value)).join('\n')}`;
}
