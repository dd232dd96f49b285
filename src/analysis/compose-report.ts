/** Analyses of a request -> its report. */
import { channelsReport } from './channels-report.ts';
import { combinedReport, signalReport } from './report.ts';
import { speakersOf } from './speakers.ts';
import { speakersReport } from './speakers-report.ts';
import type { Analyses, Analysis, AnalyzeRequest } from './types.ts';

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
