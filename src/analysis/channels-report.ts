/** The report of `channels` = `split`: one report per channel, and their conversation. */
import { z } from 'zod';
import type { Analysis } from './chunk-result.ts';
import { describeConversation } from './conversation.ts';
import { type CombinedReport, combinedReport, combinedReportSchema, topFields } from './report.ts';
import { audioSchema, envelope, recordingStatus, scoreSchema, secondsSchema } from './report-schema.ts';
import { round, roundParts } from './rounding.ts';

const pair = <Value extends z.ZodType>(value: Value) => z.tuple([value, value]);

export const conversationSchema = z
  .strictObject({
    talk_share: pair(scoreSchema).describe(
      'Per channel: its share of the speech of both, 0 to 1. The sum is 1; both are 0 without speech.',
    ),
    overlap_s: secondsSchema.describe('Time in which both channels have speech, s.'),
    response_gaps_s: pair(z.array(secondsSchema)).describe(
      'Per channel: the silence before each of its responses, s, in order. A response starts while neither channel has ' +
        'speech, and the other channel had the last one.',
    ),
    interruptions: pair(z.int().min(0)).describe(
      'Per channel: how often its speech starts inside speech of the other channel and ends after it.',
    ),
  })
  .describe('Who speaks when, from the `speech` segments of both channels.');

/** The fields of `audio` that the channels share. */
export const recordingSchema = audioSchema
  .pick({
    duration_s: true,
    container: true,
    codec: true,
    sample_rate_hz: true,
    channels: true,
    clipped_ratio: true,
  })
  .describe('Format of the recording. Quality and speech of a channel are in its report.');

export const channelsReportSchema = z
  .strictObject({
    status: recordingStatus.describe('`ok` when both reports are.'),
    channels: pair(combinedReportSchema).describe('The reports of `channel` = 0 and `channel` = 1.'),
    conversation: conversationSchema,
    audio: recordingSchema,
    request_id: envelope.request_id,
    ...topFields,
  })
  .describe('The report of a request with `channels` = `split`.');

export type ChannelsReport = z.infer<typeof channelsReportSchema>;

export function channelsReport(analyses: readonly [Analysis, Analysis], requestId: string): ChannelsReport {
  const channels = analyses.map((analysis) => combinedReport(analysis, requestId));
  const [first, second] = channels as [CombinedReport, CombinedReport];
  const { talkShare, overlapSeconds, responseGapsSeconds, interruptions } = describeConversation([
    analyses[0].span,
    analyses[1].span,
  ]);
  const shares = roundParts(talkShare, talkShare[0] + talkShare[1]) as [number, number];
  return {
    status: first.status === 'ok' ? second.status : first.status,
    channels: [first, second],
    conversation: {
      talk_share: shares,
      overlap_s: round(overlapSeconds),
      response_gaps_s: [responseGapsSeconds[0].map(round), responseGapsSeconds[1].map(round)],
      interruptions: [...interruptions],
    },
    audio: recordingOf(first),
    request_id: requestId,
  };
}

export function recordingOf({ audio }: CombinedReport): z.infer<typeof recordingSchema> {
  return recordingSchema.strip().parse(audio);
}
