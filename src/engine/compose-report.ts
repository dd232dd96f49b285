/** Analyses of a request -> its report: one, one per channel, or one per speaker. */

import { z } from 'zod';
import type { Analysis } from './aggregate.ts';
import type { Analyses, AnalyzeRequest } from './analyze.ts';
import { sum } from './arrays.ts';
import { describeConversation } from './conversation.ts';
import {
  type CombinedReport,
  combinedReport,
  combinedReportSchema,
  signalReport,
  speakerReportSchema,
  topFields,
} from './report.ts';
import {
  audioSchema,
  entryShape,
  envelope,
  recordingStatus,
  scoreSchema,
  secondsSchema,
} from './report-schema.ts';
import { round, roundParts } from './rounding.ts';
import { union } from './segments.ts';
import { speakersOf } from './speaker-segments.ts';

/** @param analyses result of `Analyzer.analyze` for the request */
export function composeReport(
  {
    channels,
    segments,
    speakers,
    signals,
  }: Pick<AnalyzeRequest, 'channels' | 'segments' | 'speakers' | 'signals'>,
  analyses: Analyses,
  requestId: string,
): object {
  if (channels === 'split') return channelsReport(analyses as readonly [Analysis, Analysis], requestId);
  if (segments !== null) return speakersReport(speakersOf(segments), analyses, requestId);
  if (speakers !== null) {
    const conversation = analyses.length === 1 ? null : conversationOf(analyses);
    const names = analyses.map((_, index) => String(index + 1));
    return { ...speakersReport(names, analyses, requestId), conversation };
  }
  const [analysis] = analyses;
  const [signal, ...others] = signals;
  if (signal === undefined || others.length > 0) return combinedReport(analysis, requestId);
  return signalReport(signal, analysis, requestId);
}

// The report of `channels` = `split`: one report per channel, and their conversation.

const pair = <Value extends z.ZodType>(value: Value) => z.tuple([value, value]);
const perSpeaker = <Value extends z.ZodType>(value: Value) => z.array(value).min(2);

export const conversationSchema = z
  .strictObject({
    talk_share: perSpeaker(scoreSchema).describe(
      'Per channel or speaker: its share of the speech of all, 0 to 1. The sum is 1; all are 0 without speech.',
    ),
    overlap_s: secondsSchema.describe(
      'Time in which both channels have speech, s. 0 with `speakers`: speech of several at once is not recognised.',
    ),
    response_gaps_s: perSpeaker(z.array(secondsSchema)).describe(
      'Per channel or speaker: the silence before each of its responses, s, in order. A response starts while nobody has ' +
        'speech, and another one had the last one. A gap with `unassigned` speech or missing audio is left out.',
    ),
    interruptions: perSpeaker(z.int().min(0)).describe(
      'Per channel or speaker: how often its speech starts inside speech of another one, overlaps it for 0.5 s or more and ends ' +
        'after it. 0 with `speakers`.',
    ),
  })
  .describe(
    'Who speaks when, from the `speech` segments of both channels or of all speakers, in their order.',
  );

/** The fields of `audio` that the channels share. */
export const recordingSchema = audioSchema
  .pick({
    duration_s: true,
    container: true,
    codec: true,
    sample_rate_hz: true,
    channels: true,
    track: true,
    tracks: true,
    clipped_ratio: true,
  })
  .describe('Format of the recording. Quality and speech of a channel are in its report.');

export const channelsReportSchema = z
  .strictObject({
    status: recordingStatus.describe('`ok` when both reports are.'),
    channels: pair(combinedReportSchema).describe(
      'The reports of channel 0 and channel 1. A gap in which the other one speaks is no pause.',
    ),
    conversation: conversationSchema,
    audio: recordingSchema,
    request_id: envelope.request_id,
    ...topFields,
  })
  .describe('The report of a request with `channels` = `split`.');

export type ChannelsReport = z.infer<typeof channelsReportSchema>;

function channelsReport(analyses: readonly [Analysis, Analysis], requestId: string): ChannelsReport {
  const channels = analyses.map((analysis) => combinedReport(analysis, requestId));
  const [first, second] = channels as [CombinedReport, CombinedReport];
  return {
    status: first.status === 'ok' ? second.status : first.status,
    channels: [first, second],
    conversation: conversationOf(analyses),
    audio: recordingOf(first),
    request_id: requestId,
  };
}

/** @param analyses of one recording: `unassigned` and what is missing are the same for all */
function conversationOf(analyses: Analyses): z.infer<typeof conversationSchema> {
  const [{ unassigned, span }] = analyses;
  const { talkShare, overlapSeconds, responseGapsSeconds, interruptions } = describeConversation(
    analyses.map((analysis) => analysis.span),
    union([...unassigned, ...span.missing]),
  );
  return {
    talk_share: roundParts(
      talkShare,
      sum(talkShare, (share) => share),
    ),
    overlap_s: round(overlapSeconds),
    response_gaps_s: responseGapsSeconds.map((gaps) => gaps.map(round)),
    interruptions,
  };
}

function recordingOf({ audio }: CombinedReport): z.infer<typeof recordingSchema> {
  return recordingSchema.strip().parse(audio);
}

// The report of `segments` and of `speakers`: one report per speaker.

export const speakersReportSchema = z
  .strictObject({
    status: recordingStatus.describe('`ok` when all reports are.'),
    speakers: z
      .array(speakerReportSchema)
      .min(1)
      .describe('In order of their first segments. With `speakers` they are named `1`, `2` and so on.'),
    unassigned: z
      .array(z.strictObject(entryShape).describe('Speech that is analysed for no speaker.'))
      .describe(
        'Speech of none of the speakers: outside of `segments`, or where those of two overlap; with `speakers`, utterances ' +
          'that may be of several.',
      ),
    conversation: conversationSchema
      .nullable()
      .optional()
      .describe('With `speakers`: who speaks when; null with one speaker. Absent with `segments`.'),
    audio: recordingSchema,
    request_id: envelope.request_id,
    ...topFields,
  })
  .describe('The report of a request with `segments` or `speakers`.');

export type SpeakersReport = z.infer<typeof speakersReportSchema>;

/** @param names of the speakers of `analyses` */
function speakersReport(names: readonly string[], analyses: Analyses, requestId: string): SpeakersReport {
  const speakers = analyses.map((analysis, index) => ({
    speaker: names[index] as string,
    ...combinedReport(analysis, requestId),
  }));
  const { framesPerSecond } = analyses[0].span;
  return {
    status: speakers.find(({ status }) => status !== 'ok')?.status ?? 'ok',
    speakers,
    unassigned: analyses[0].unassigned.map(({ start, end }) => ({
      start_s: round(start / framesPerSecond),
      end_s: round(end / framesPerSecond),
    })),
    audio: recordingOf(combinedReport(analyses[0], requestId)),
    request_id: requestId,
  };
}
