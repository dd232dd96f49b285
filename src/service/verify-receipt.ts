/** A receipt in a file, compared with the recording and the report that it is of, and with a second analysis. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { SpeakerSegment } from '../engine/index.ts';
import {
  channelsReportSchema,
  combinedReportSchema,
  definitions,
  type Receipt,
  receiptSchema,
  reportSchemas,
  signals,
  speakersReportSchema,
  type UnsignedReceipt,
} from '../engine/schema.ts';
import { jobSchemas } from './api/job-schemas.ts';
import { canonicalBytes, parseUnambiguous } from './canonical-json.ts';
import type { PublicKey } from './receipt-keys.ts';
import { hashReport, hasValidSignature } from './receipts.ts';
import { sha256 } from './sha256.ts';

/** Scores of other processors and builds may differ by this much. */
export const tolerance = 0.002;

type Evidence = {
  readonly recording: Uint8Array;
  readonly baselines: readonly Uint8Array[];
  readonly segments: readonly SpeakerSegment[] | null;
  /** Whole reports, with or without their receipt. */
  readonly reports: readonly object[];
};

/** Returns why the receipt is not one of this evidence; null when it is. */
export function findMismatch(
  receipt: Receipt,
  { recording, baselines, segments, reports }: Evidence,
  keys: readonly PublicKey[],
): string | null {
  if (!keys.some(({ kid }) => kid === receipt.key_id)) return `no key has the id ${receipt.key_id}`;
  if (!hasValidSignature(receipt, keys)) return 'the signature is not that of the receipt';
  if (sha256(recording) !== receipt.upload_sha256) return 'the recording is another';
  const found = receipt.baselines_sha256.length;
  if (baselines.length !== found) return `the report has ${found} baselines: add --baseline FILE for each`;
  if (baselines.some((baseline, index) => sha256(baseline) !== receipt.baselines_sha256[index]))
    return 'a baseline is another';
  if ((segments && sha256(canonicalBytes(segments))) !== receipt.segments_sha256)
    return segments === null ? 'the report has segments: add --segments FILE' : 'the segments are others';
  if (reports.some((report) => hashReport(report) !== receipt.report_sha256)) return 'the report is another';
  if (reports.some((report) => 'receipt' in report && !isDeepStrictEqual(report.receipt, receipt)))
    return 'the report has another receipt';
  return null;
}

export type Comparison =
  | { readonly outcome: 'identical' }
  | {
      readonly outcome: 'within tolerance' | 'different';
      /** Largest difference of a score; infinite when a text differs. */
      readonly difference: number;
      /** Its field, such as `emotion.valence`. */
      readonly field: string;
      /** The first stage whose result differs. */
      readonly stage: 'decode' | 'analysis' | 'report';
    };

/** @param again the receipt of a second analysis of the recording */
export function compareReceipts(receipt: Receipt, again: UnsignedReceipt): Comparison {
  if (receipt.report_sha256 === again.report_sha256) return { outcome: 'identical' };
  const sameSamples = receipt.samples_sha256.join() === again.samples_sha256.join();
  const [field, difference] = largestDifference(receipt.scores, again.scores);
  const stage = sameSamples ? (difference === 0 ? 'report' : 'analysis') : 'decode';
  const outcome = difference <= tolerance ? 'within tolerance' : 'different';
  return { outcome, difference, field, stage };
}

/** Names of the versions that differ, with both values. */
export function softwareDifferences(receipt: Receipt, again: UnsignedReceipt): string[] {
  const flat = ({ models, libraries, kernel, addon_sha256, ...versions }: Receipt['software']) =>
    new Map(
      Object.entries({
        ...versions,
        addon: addon_sha256.slice(0, 8),
        ...libraries,
        ...kernel,
        ...Object.fromEntries(
          models.map(({ name, version, sha256 }) => [name, `${version} (${sha256.slice(0, 8)})`]),
        ),
      }).map(([name, value]) => [name, String(value)]),
    );
  const [then, now] = [flat(receipt.software), flat(again.software)];
  const names = [...new Set([...then.keys(), ...now.keys()])];
  return names
    .filter((name) => then.get(name) !== now.get(name))
    .map((name) => `${name} ${then.get(name) ?? 'none'}, here ${now.get(name) ?? 'none'}`);
}

/** Returns the path and size of the largest difference of numbers; infinite when something else differs. */
export function largestDifference(
  left: unknown,
  right: unknown,
  path = '',
): readonly [field: string, number] {
  if (typeof left === 'number' && typeof right === 'number') return [path, Math.abs(left - right)];
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return [path, left === right ? 0 : Number.POSITIVE_INFINITY];
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return names
    .map((name) =>
      largestDifference(Reflect.get(left, name), Reflect.get(right, name), path ? `${path}.${name}` : name),
    )
    .reduce((most, one) => (one[1] > most[1] ? one : most), [path, 0] as const);
}

// Bytes of a file -> the receipt in it, and the report that comes with the receipt.

export type Answer = { readonly receipt: Receipt | null; readonly report: object | null };

const scores = signals.map((signal) => [
  signal,
  z.union(definitions[signal].body.options.map(({ shape }) => shape.signals as z.ZodType)).optional(),
]);
const receipt = receiptSchema.extend({ scores: z.array(z.strictObject(Object.fromEntries(scores))).min(1) });

const report = z.union([
  combinedReportSchema,
  channelsReportSchema,
  speakersReportSchema,
  ...Object.values(reportSchemas),
]);

/** Only `result` is signed. The other fields of a job that is done hold no text but the metadata of its client. */
const done = { status: z.literal('done'), progress: z.null(), result: report, error: z.null() };
/** As GET /v1/jobs/ID returns it, or as the body of a callback. */
const job = z.union([
  jobSchemas.Job.extend(done),
  jobSchemas.JobEvent.extend({ ...done, type: z.literal('job.done') }),
]);

/**
 * A receipt, a report or a job that is done. Values are as in the file.
 * @returns null for anything else: unknown fields, names that occur twice, deeper nesting
 */
export function readAnswer(bytes: Uint8Array): Answer | null {
  try {
    const json = parseUnambiguous(bytes) as Readonly<Record<string, unknown>>;
    if (receipt.safeParse(json).success) return { receipt: json as Receipt, report: null };
    const found = (job.safeParse(json).success ? json.result : json) as { readonly receipt?: Receipt };
    report.parse(found);
    if (found.receipt !== undefined) receipt.parse(found.receipt);
    return { receipt: found.receipt ?? null, report: found };
  } catch {
    return null;
  }
}
