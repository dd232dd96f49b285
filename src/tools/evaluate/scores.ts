/** Scores of recordings, nothing of the audio, as JSON lines, from which an interrupted run resumes. */

import { appendFile, stat, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Manifest } from '../../engine/schema.ts';
import { version } from '../../node/paths.ts';
import { sha256 } from '../../service/sha256.ts';
import type { AnalyzeResult } from '../analyze-thread.ts';
import { expected } from '../context.ts';
import type { Report } from '../index.ts';
import { readEarlierFile } from '../inputs.ts';

const fraction = z.number().min(0).max(1);
const interval = z.tuple([fraction, fraction]);

const emotion = z.strictObject({
  probabilities: z.record(z.string(), fraction),
  valence: fraction.nullable(),
  arousal: fraction.nullable(),
  intervals: z.strictObject({ valence: interval.nullable(), arousal: interval.nullable() }),
  warnings: z.array(z.string()),
});
const cognitive = z.strictObject({
  clarity: fraction,
  intervals: z.strictObject({ clarity: interval }),
  warnings: z.array(z.string()),
});

/** Null: too little speech. */
const scoresSchema = z.strictObject({ emotion: emotion.nullable(), cognitive: cognitive.nullable() });

export type Scores = Readonly<z.infer<typeof scoresSchema>>;
export type EmotionScores = NonNullable<Scores['emotion']>;

function scoresOf({ emotion, cognitive }: Report): Scores {
  return {
    emotion:
      emotion?.status === 'ok'
        ? scoresSchema.shape.emotion.parse({
            probabilities: emotion.signals.emotions,
            valence: emotion.signals.valence,
            arousal: emotion.signals.arousal,
            intervals: emotion.signals.intervals,
            warnings: emotion.warnings,
          })
        : null,
    cognitive:
      cognitive?.status === 'ok'
        ? scoresSchema.shape.cognitive.parse({
            clarity: cognitive.signals.clarity,
            intervals: { clarity: cognitive.signals.intervals.clarity },
            warnings: cognitive.warnings,
          })
        : null,
  };
}

const embeddingDecimals = 5;

const headSchema = z.strictObject({
  undertone: z.string(),
  /** Hashes of manifests, which have those of all files. */
  models: z.record(z.string(), z.string()),
  embeddings: z.boolean(),
});
/** Size and time of change identify the content of a file. */
const lineSchema = z.strictObject({
  path: z.string(),
  size: z.number(),
  modified_ms: z.number(),
  scores: scoresSchema,
  /** Mean of the recording; null with too little speech, and when not requested. */
  embedding: z.array(z.number()).nullable(),
});
type Line = z.infer<typeof lineSchema>;

export type ScoredFile = Pick<Line, 'scores' | 'embedding'>;

export type ScoresFile = {
  /** Whether there are scores of the file as it is. Forgets older ones. */
  isCurrent(path: string): Promise<boolean>;
  add(path: string, result: Exclude<AnalyzeResult, { error: unknown }>): Promise<void>;
  of(path: string): ScoredFile | undefined;
};

/** Scores of other models or another version are discarded. */
export async function openScoresFile(
  file: string,
  manifests: readonly Manifest[],
  embeddings: boolean,
): Promise<ScoresFile> {
  const models = Object.fromEntries(
    manifests.map((manifest) => [manifest.name, sha256(Buffer.from(JSON.stringify(manifest)))]),
  );
  const head = JSON.stringify({ undertone: version, models, embeddings } satisfies z.infer<
    typeof headSchema
  >);
  const [first, ...rest] = (await readEarlierFile('--out', file)).split('\n');
  const kept = first === head ? rest.flatMap(parseLine) : [];
  const text = [head, ...kept.map((line) => JSON.stringify(line)), ''].join('\n');
  await writeFile(file, text).catch((error: Error) => {
    throw expected('a folder that can be written', '--out', error.message);
  });
  const lines = new Map(kept.map((line) => [line.path, line]));
  return {
    async isCurrent(path) {
      const line = lines.get(path);
      const state = line === undefined ? null : await stateOf(path).catch(() => null);
      const current = state !== null && line?.size === state.size && line.modified_ms === state.modified_ms;
      if (!current) lines.delete(path);
      return current;
    },
    async add(path, result) {
      const line = {
        path,
        ...(await stateOf(path)),
        scores: scoresOf(result.report as Report),
        embedding: embeddings ? embeddingOf(result) : null,
      };
      lines.set(path, line);
      await appendFile(file, `${JSON.stringify(line)}\n`);
    },
    of: (path) => lines.get(path),
  };
}

function embeddingOf(result: Exclude<AnalyzeResult, { error: unknown }>): number[] | null {
  const { recording } = ('embeddings' in result && result.embeddings) || { recording: null };
  return recording && Array.from(recording, (value) => Number(value.toFixed(embeddingDecimals)));
}

/** The last line of an interrupted run may be cut. */
function parseLine(text: string): Line[] {
  try {
    return [lineSchema.parse(JSON.parse(text))];
  } catch {
    return [];
  }
}

async function stateOf(path: string): Promise<Pick<Line, 'size' | 'modified_ms'>> {
  const { size, mtimeMs } = await stat(path);
  return { size, modified_ms: mtimeMs };
}
