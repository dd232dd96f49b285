/** Analysis -> embeddings of the trunk: the report of /v1/embed and of `undertone embed`. */

import { z } from 'zod';
import type { Analysis } from './aggregate.ts';
import { audioOf, topFields, type WithoutId } from './report.ts';
import { audioSchema, entryShape, envelope, reportShape } from './report-schema.ts';
import { round, roundTo } from './rounding.ts';

const embeddingSchema = z.array(z.number()).describe('One number per dimension.');
const shape = {
  warnings: reportShape.warnings,
  model: z
    .strictObject({
      name: z.string().describe('Name of the trunk, as in GET /v1/models.'),
      version: z.string().describe('Version of the trunk, MAJOR.MINOR.PATCH.'),
      weights_sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .describe('SHA-256 of its weights.'),
    })
    .describe('What made the embeddings. Embeddings of other weights do not compare.'),
  timeline: z
    .array(z.strictObject({ ...entryShape, embedding: embeddingSchema }).describe('An utterance.'))
    .describe('Embeddings of the utterances.'),
  audio: audioSchema,
  request_id: envelope.request_id,
  ignored: topFields.ignored,
};

/** One variant per `status`. */
export const embeddingReportSchema = z.discriminatedUnion('status', [
  z
    .strictObject({
      status: z.literal('ok').describe('Selects the variant.'),
      embedding: embeddingSchema.describe('Mean over the recording, weighted by speech.'),
      ...shape,
    })
    .describe('Enough speech.'),
  z
    .strictObject({
      status: z.literal('insufficient_speech').describe('Selects the variant.'),
      embedding: z.null().describe('No embedding.'),
      ...shape,
    })
    .describe('Less than 0.5 s of speech was detected.'),
]);
export type EmbeddingReport = z.infer<typeof embeddingReportSchema>;

const steps = 1e5;

/** @param analysis with embeddings */
export function embeddingReport(analysis: Analysis): WithoutId<EmbeddingReport> {
  const { embeddings, models, warnings } = analysis;
  const { name, version, sha256 } = models.emotion.trunk as { name: string; version: string; sha256: string };
  const rest = {
    warnings: [...warnings],
    model: { name, version, weights_sha256: sha256 },
    timeline: (embeddings?.timeline ?? []).map(({ start, end, embedding }) => ({
      start_s: round(start),
      end_s: round(end),
      embedding: toNumbers(embedding),
    })),
    audio: audioOf(analysis),
  };
  if (embeddings === null) return { status: 'insufficient_speech', embedding: null, ...rest };
  return { status: 'ok', embedding: toNumbers(embeddings.recording), ...rest };
}

function toNumbers(embedding: Float32Array): number[] {
  return Array.from(embedding, (value) => roundTo(value, steps));
}
