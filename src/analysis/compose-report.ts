/** Analyses of a request -> its report. */
import { channelsReport } from './channels-report.ts';
import { combinedReport, signalReport } from './report.ts';
import type { Analyses, Analysis, AnalyzeRequest } from './types.ts';

/** @param analyses result of `Analyzer.analyze` for the request */
export function composeReport(
  { channels, signals }: Pick<AnalyzeRequest, 'channels' | 'signals'>,
  analyses: Analyses,
  requestId: string,
): object {
  if (channels === 'split') return channelsReport(analyses as readonly [Analysis, Analysis], requestId);
  const [analysis] = analyses;
  const [signal, ...others] = signals;
  if (signal === undefined || others.length > 0) return combinedReport(analysis, requestId);
  return signalReport(signal, analysis, requestId);
}
