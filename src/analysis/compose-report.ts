/** Analyses of a request -> its report. */

import type { Analyses, AnalyzeRequest } from './analyze.ts';
import { channelsReport } from './channels-report.ts';
import type { Analysis } from './chunk-result.ts';
import { combinedReport, signalReport } from './report.ts';
import { speakersOf } from './speakers.ts';
import { speakersReport } from './speakers-report.ts';

/** @param analyses result of `Analyzer.analyze` for the request */
export function composeReport(
  { channels, segments, signals }: Pick<AnalyzeRequest, 'channels' | 'segments' | 'signals'>,
  analyses: Analyses,
  requestId: string,
): object {
  if (channels === 'split') return channelsReport(analyses as readonly [Analysis, Analysis], requestId);
  if (segments !== null) return speakersReport(speakersOf(segments), analyses, requestId);
  const [analysis] = analyses;
  const [signal, ...others] = signals;
  if (signal === undefined || others.length > 0) return combinedReport(analysis, requestId);
  return signalReport(signal, analysis, requestId);
}
