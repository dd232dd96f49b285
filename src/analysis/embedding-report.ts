/** Analysis -> embeddings of the trunk: the report of /v1/embed and of `undertone embed`. */
import { z } from 'zod';
import { audioOf, statusOf } from './report.ts';
import { audioSchema, entryShape, envelope, recordingStatus, reportShape } from './report-schema.ts';
import { round, roundTo } from './rounding.ts';
import type { Analysis } from './types.ts';

const embeddingSchema = z.array(z.number()).describe('One number per dimension.');
const shape = {
  status: recordingStatus.describe('`insufficient_speech`: less than 0.5 s of speech, and no embedding.'),
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
  embedding: embeddingSchema
    .nullable()
    .describe('Mean over the recording, weighted by speech; null with too little speech.'),
  timeline: z
    .array(z.strictObject({ ...entryShape, embedding: embeddingSchema }).describe('An utterance.'))
    .describe('Embeddings of the utterances.'),
  audio: audioSchema,
};

export const embeddingReportSchema = z.strictObject({ ...shape, request_id: envelope.request_id });
export type EmbeddingReport = z.infer<typeof embeddingReportSchema>;

const steps = 1e5;

/** @param analysis with embeddings */
export function embeddingReport(analysis: Analysis): Omit<EmbeddingReport, 'request_id'> {
  const { embeddings, models, warnings } = analysis;
  const { name, version, sha256 } = models.emotion.trunk as { name: string; version: string; sha256: string };
  return {
    status: statusOf(analysis),
    warnings: [...warnings],
    model: { name, version, weights_sha256: sha256 },
    embedding: embeddings && toNumbers(embeddings.recording),
    timeline: (embeddings?.timeline ?? []).map(({ start, end, embedding }) => ({
      start_s: round(start),
      end_s: round(end),
      embedding: toNumbers(embedding),
    })),
    audio: audioOf(analysis),
  };
}

function toNumbers(embedding: Float32Array): number[] {
  return Array.from(embedding, (value) => roundTo(value, steps));
}
