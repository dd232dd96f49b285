/** Analysis -> report: the fields of each signal, and those of every report. */
import { z } from 'zod';
import { unavailableOf, versionOf } from '../models/manifest.ts';
import { ignoredSchema, receiptSchema } from '../receipts/receipt.ts';
import type { Analysis } from './chunk-result.ts';
import { type BodySchema, envelope, recordingStatus } from './report-schema.ts';
import { round, roundTo } from './rounding.ts';
import { type BodyOf, definitions, type Signal, signals } from './signals/table.ts';

type Envelope = { [Field in keyof typeof envelope]: z.infer<(typeof envelope)[Field]> };
type Status = z.infer<typeof recordingStatus>;

/** Only at the top of a response. */
export const topFields = { ignored: ignoredSchema.optional(), receipt: receiptSchema.optional() };

/** Of each variant of a union. */
export type WithoutId<Body> = Body extends unknown ? Omit<Body, 'request_id'> : never;

export type SignalReport<S extends Signal = Signal> = BodyOf<S> & Envelope;
export type CombinedReport = { status: Status } & { [S in Signal]: BodyOf<S> } & Envelope;

/** Response of /v1/analyze/SIGNAL. */
export const reportSchemas = Object.fromEntries(
  signals.map((signal) => {
    const [ok, ...others] = definitions[signal].body.options.map((variant) =>
      variant.extend({ ...envelope, ...topFields }).describe(variant.description ?? ''),
    ) as unknown as [z.ZodObject, ...z.ZodObject[]];
    return [signal, z.discriminatedUnion('status', [ok, ...others])];
  }),
) as unknown as { readonly [S in Signal]: BodySchema & z.ZodType<SignalReport<S>> };

const combinedShape = {
  status: recordingStatus,
  ...Object.fromEntries(signals.map((signal) => [signal, definitions[signal].body])),
  ...envelope,
  ...topFields,
};

/** Response of /v1/analyze. */
export const combinedReportSchema = z.strictObject(combinedShape) as unknown as z.ZodType<CombinedReport>;

/** An entry of `speakers` in the response of /v1/analyze with `segments`. */
export const speakerReportSchema = z
  .strictObject({ speaker: z.string().describe('Name of the speaker in `segments`.'), ...combinedShape })
  .describe('The report of one speaker.') as unknown as z.ZodType<{ speaker: string } & CombinedReport>;

export function signalReport<S extends Signal>(
  signal: S,
  analysis: Analysis,
  requestId: string,
): SignalReport<S> {
  return { ...bodyOf(signal, analysis), ...envelopeOf(analysis, requestId) };
}

export function combinedReport(analysis: Analysis, requestId: string): CombinedReport {
  const reports = signals.map((signal) => [signal, bodyOf(signal, analysis)]);
  const combined = { ...Object.fromEntries(reports), ...envelopeOf(analysis, requestId) };
  return { status: statusOf(analysis), ...combined };
}

export function bodyOf<S extends Signal>(signal: S, analysis: Analysis): BodyOf<S> {
  const model = analysis.models[signal];
  const reason = unavailableOf(model);
  const own = definitions[signal].report(analysis.results[signal] ?? null);
  const body = {
    status: reason === null ? statusOf(analysis) : 'not_available',
    ...(reason !== null && { reason }),
    ...own,
    warnings: [...analysis.warnings, ...own.warnings],
    model: versionOf(model),
  };
  return body as unknown as BodyOf<S>;
}

function statusOf({ insufficientSpeech }: Analysis): Status {
  return insufficientSpeech ? 'insufficient_speech' : 'ok';
}

function segmentsOf({ audio, span }: Analysis): Envelope['segments'] {
  const parts: Envelope['segments'] = [];
  let from = 0;
  const add = (type: 'speech' | 'pause', until: number) => {
    const end_s = round(Math.min(until, audio.seconds));
    if (end_s > from) parts.push({ type, start_s: from, end_s });
    from = end_s;
  };
  for (const { start, end } of span.segments) {
    add('pause', start / span.framesPerSecond);
    add('speech', end / span.framesPerSecond);
  }
  add('pause', audio.seconds);
  return parts;
}

function envelopeOf(analysis: Analysis, requestId: string): Envelope {
  return { audio: audioOf(analysis), segments: segmentsOf(analysis), request_id: requestId };
}

export function audioOf({ audio }: Analysis): Envelope['audio'] {
  const { source } = audio;
  return {
    duration_s: round(audio.seconds),
    speech_s: round(audio.speechSeconds),
    container: source.container,
    codec: source.codec,
    sample_rate_hz: source.sampleRate,
    channels: source.channels,
    snr_db: audio.snrDb === null ? null : roundTo(audio.snrDb, 10),
    level_dbfs: roundTo(audio.levelDbfs, 10),
    clipped_ratio: round(source.clippedRatio),
    bandwidth_hz: Math.round(audio.bandwidthHz),
  };
}
