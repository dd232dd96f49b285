/** The report of `segments`: one report per speaker. */
import { z } from 'zod';
import type { Analyses } from './analyze.ts';
import { recordingOf, recordingSchema } from './channels-report.ts';
import { combinedReport, speakerReportSchema, topFields } from './report.ts';
import { envelope, recordingStatus } from './report-schema.ts';

export const speakersReportSchema = z
  .strictObject({
    status: recordingStatus.describe('`ok` when all reports are.'),
    speakers: z.array(speakerReportSchema).min(1).describe('In order of their first segments.'),
    audio: recordingSchema,
    request_id: envelope.request_id,
    ...topFields,
  })
  .describe('The report of a request with `segments`.');

export type SpeakersReport = z.infer<typeof speakersReportSchema>;

/** @param names of the speakers of `analyses` */
export function speakersReport(
  names: readonly string[],
  analyses: Analyses,
  requestId: string,
): SpeakersReport {
  const speakers = analyses.map((analysis, index) => ({
    speaker: names[index] as string,
    ...combinedReport(analysis, requestId),
  }));
  return {
    status: speakers.find(({ status }) => status !== 'ok')?.status ?? 'ok',
    speakers,
    audio: recordingOf(combinedReport(analyses[0], requestId)),
    request_id: requestId,
  };
}
