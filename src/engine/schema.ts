/** What reports, receipts and manifests are: their schemas, and the table of signals. */
export {
  channelsReportSchema,
  conversationSchema,
  recordingSchema,
  speakersReportSchema,
} from './compose-report.ts';
export { embeddingReportSchema } from './embedding-report.ts';
export {
  correctionOf,
  filesOf,
  type Kind,
  type Manifest,
  type ManifestOf,
  publishedName,
  unavailableOf,
  versionOf,
} from './manifest.ts';
export { maxBaselines } from './options.ts';
export {
  type Ignored,
  ignoredSchema,
  type Receipt,
  receiptSchema,
  type Software,
  type UnsignedReceipt,
} from './receipt.ts';
export { combinedReportSchema, reportSchemas, speakerReportSchema } from './report.ts';
export {
  audioSchema,
  type BodySchema,
  envelope,
  modelSchema,
  noSignalsSchema,
  reportShape,
  secondsSchema,
  withoutRequestIds,
} from './report-schema.ts';
export { round } from './rounding.ts';
export type { IntervalParams } from './signals/intervals.ts';
export type { Moment } from './signals/moments.ts';
export type { Relative } from './signals/relative.ts';
export { definitions, type Signal, signals, titlesOf } from './signals/table.ts';
export { type Warning, warnings } from './warnings.ts';
