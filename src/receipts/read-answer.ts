/** Bytes of a file -> the receipt in it, and the report beside the receipt. */
import { z } from 'zod';
import { channelsReportSchema } from '../analysis/channels-report.ts';
import { combinedReportSchema, reportSchemas } from '../analysis/report.ts';
import { definitions, signals } from '../analysis/signals/table.ts';
import { speakersReportSchema } from '../analysis/speakers-report.ts';
import { jobSchemas } from '../openapi/job-schemas.ts';
import { parseUnambiguous } from './canonical.ts';
import { type Receipt, receiptSchema } from './receipt.ts';

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

/** No signature covers the fields beside `result`: those of a job that is done leave no room for text but its client's metadata. */
const job = jobSchemas.Job.extend({
  status: z.literal('done'),
  progress: z.null(),
  result: report,
  error: z.null(),
});

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
