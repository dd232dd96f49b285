/** Analysis -> report: the fields of each signal, and those of every report. */

import { z } from 'zod';
import type { Analysis } from './aggregate.ts';
import { unavailableOf, versionOf } from './manifest.ts';
import { ignoredSchema, receiptSchema } from './receipt.ts';
import { type BodySchema, envelope, recordingStatus } from './report-schema.ts';
import { round, roundTo } from './rounding.ts';
import { countFrames, subtract } from './segments.ts';
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

/** An entry of `speakers` in the response of /v1/analyze with `segments` or `speakers`. */
export const speakerReportSchema = z
  .strictObject({
    speaker: z.string().describe('Name of the speaker in `segments`; `1` to `6` with `speakers`.'),
    ...combinedShape,
  })
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

/** What the report of a signal is made of. */
export type SignalAnalysis = Pick<Analysis, 'results' | 'insufficientSpeech' | 'warnings' | 'models'>;

export function bodyOf<S extends Signal>(signal: S, analysis: SignalAnalysis): BodyOf<S> {
  const model = analysis.models[signal];
  const reason = unavailableOf(model);
  const fields = definitions[signal].report(analysis.results[signal] ?? null, model.params);
  const body = {
    status: reason === null ? statusOf(analysis) : 'not_available',
    ...(reason !== null && { reason }),
    ...fields,
    warnings: [...analysis.warnings, ...fields.warnings],
    model: versionOf(model),
  };
  return body as unknown as BodyOf<S>;
}

function statusOf({ insufficientSpeech }: SignalAnalysis): Status {
  return insufficientSpeech ? 'insufficient_speech' : 'ok';
}

function segmentsOf({ audio, span }: Analysis): Envelope['segments'] {
  const parts: Envelope['segments'] = [];
  let from = 0;
  const add = (type: (typeof parts)[number]['type'], until: number) => {
    const end_s = round(Math.min(until, audio.seconds));
    if (end_s > from) parts.push({ type, start_s: from, end_s });
    from = end_s;
  };
  const spans = [
    ...span.segments.map((segment) => ({ ...segment, type: 'speech' as const })),
    ...subtract(span.missing, span.segments).map((segment) => ({ ...segment, type: 'gap' as const })),
  ].sort((one, other) => one.start - other.start);
  for (const { type, start, end } of spans) {
    add('pause', start / span.framesPerSecond);
    add(type, end / span.framesPerSecond);
  }
  add('pause', audio.seconds);
  return parts;
}

function envelopeOf(analysis: Analysis, requestId: string): Envelope {
  return { audio: audioOf(analysis), segments: segmentsOf(analysis), request_id: requestId };
}

export function audioOf({ audio, span }: Analysis): Envelope['audio'] {
  const { source } = audio;
  return {
    duration_s: round(audio.seconds),
    speech_s: round(audio.speechSeconds),
    gaps_s: round(countFrames(span.missing) / span.framesPerSecond),
    container: source.container,
    codec: source.codec,
    sample_rate_hz: source.sampleRate,
    channels: source.channels,
    ...(source.tracks > 1 && { track: source.track, tracks: source.tracks }),
    snr_db: audio.snrDb === null ? null : roundTo(audio.snrDb, 10),
    level_dbfs: roundTo(audio.levelDbfs, 10),
    clipped_ratio: round(source.clippedRatio),
    bandwidth_hz: Math.round(audio.bandwidthHz),
  };
}
