/** Scores the recordings of a file of labels: shows progress, and resumes from the file of an interrupted run. */
import { appendFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { defaultOptions } from '../../engine/index.ts';
import { correctionOf, type Manifest, signals } from '../../engine/schema.ts';
import { entryFile, version } from '../../node/paths.ts';
import type { AnalyzeResult, AnalyzeSettings, AnalyzeTask } from '../analyze-thread.ts';
import { type CliContext, countFiles, expected, showProgress, UsageError } from '../context.ts';
import type { Report } from '../index.ts';
import { readNamedFile, readOwnFile } from '../inputs.ts';
import { mapInOrder } from '../parallel.ts';
import { type LabelledRecording, scoresOf, scoresSchema } from './labels.ts';

type ScoreOptions = {
  readonly jobs: number;
  readonly settings: AnalyzeSettings;
  readonly terminal: CliContext;
  /** Also the mean embedding of each recording. */
  readonly embeddings: boolean;
};

export type ScoredLabels = {
  readonly scored: readonly ({ readonly recording: LabelledRecording } & ScoredFile)[];
  /** Recordings that could not be analysed. */
  readonly failed: number;
};

/** @param folder of the file of scores; made if needed */
export async function scoreLabels(
  recordings: readonly LabelledRecording[],
  folder: string,
  manifests: readonly Manifest[],
  options: ScoreOptions,
): Promise<ScoredLabels> {
  await mkdir(folder, { recursive: true }).catch((error: Error) => {
    throw expected('a folder that can be written', '--out', error.message);
  });
  const file = await openScoresFile(join(folder, 'scores.jsonl'), manifests, options.embeddings);
  const failed = await score(await findMissing(recordings, file), file, options);
  const scored = recordings.flatMap((recording) => {
    const found = file.of(recording.path);
    return found === undefined ? [] : [{ recording, ...found }];
  });
  return { scored, failed };
}

/** @returns how many recordings could not be analysed */
async function score(
  paths: readonly string[],
  file: ScoresFile,
  { jobs, settings, terminal, embeddings }: ScoreOptions,
): Promise<number> {
  const tasks = paths.map((path) => toTask(path, embeddings));
  const lost = (_: AnalyzeTask, { message }: Error): AnalyzeResult => ({
    error: { loc: ['body', 'audio'], msg: 'internal error', type: 'internal' },
    cause: message,
  });
  const progress = showProgress(tasks.length, terminal);
  let done = 0;
  let failed = 0;
  for await (const result of mapInOrder({
    file: entryFile('tools/analyze-thread'),
    jobs,
    settings,
    tasks,
    lost,
  })) {
    const path = paths[done++] as string;
    if ('error' in result) {
      failed++;
      progress.note(result.cause ?? result.error.msg, path);
    } else await file.add(path, result);
    await progress.step();
  }
  progress.end(`${countFiles(done)} analysed, ${failed} failed`);
  return failed;
}

/** Names the columns that are ignored on standard error. @throws UsageError */
export async function readLabels(path: string, { stderr }: CliContext): Promise<LabelledRecording[]> {
  const { LabelsError, parseLabels } = await import('./labels.ts');
  const text = (await readNamedFile('labels', path)).toString();
  try {
    const { recordings, ignored } = parseLabels(text, dirname(resolve(path)));
    if (ignored.length > 0) stderr.write(`${path}: ignored columns: ${ignored.join(', ')}\n`);
    return recordings;
  } catch (error) {
    throw error instanceof LabelsError ? new UsageError(`${path}: ${error.message}`) : error;
  }
}

/** Recordings without scores of these models, or that have changed since. Each path once. */
async function findMissing(recordings: readonly LabelledRecording[], file: ScoresFile): Promise<string[]> {
  const paths = [...new Set(recordings.map(({ path }) => path))];
  const known = await Promise.all(paths.map((path) => file.isCurrent(path)));
  return paths.filter((_, index) => !known[index]);
}

function toTask(path: string, embeddings: boolean): AnalyzeTask {
  const { channel, segments } = defaultOptions;
  return { path, bytes: null, optional: false, signals, channel, segments, embeddings };
}

// Scores of labelled recordings as JSON lines, from which an interrupted run resumes.

const embeddingDecimals = 5;

const headSchema = z.strictObject({
  undertone: z.string(),
  /** Hashes of weights and correction. */
  models: z.record(z.string(), z.array(z.string().nullable())),
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

type ScoredFile = Pick<Line, 'scores' | 'embedding'>;

type ScoresFile = {
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
    manifests.map((manifest) => [
      manifest.name,
      [manifest.weights.sha256, correctionOf(manifest)?.sha256 ?? null],
    ]),
  );
  const head = JSON.stringify({ undertone: version, models, embeddings } satisfies z.infer<
    typeof headSchema
  >);
  const [first, ...rest] = (await readOwnFile('--out', file)).split('\n');
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
