/** Scores the recordings of a file of labels: shows progress, and resumes from the file of an interrupted run. */
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { signals } from '../analysis/signals/table.ts';
import { defaultOptions } from '../analysis/speakers.ts';
import type { LabelledRecording } from '../evaluation/labels.ts';
import type { Manifest } from '../models/manifest.ts';
import { entryFile } from '../runtime/paths.ts';
import type { AnalyzeResult, AnalyzeSettings, AnalyzeTask } from './analyze-thread.ts';
import { type CliContext, expected, UsageError } from './context.ts';
import { readNamedFile } from './inputs.ts';
import { mapInOrder } from './parallel.ts';
import { countFiles, showProgress } from './progress.ts';
import { openScoresFile, type ScoredFile, type ScoresFile } from './scores-file.ts';

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
    file: entryFile('cli/analyze-thread'),
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
  const { LabelsError, parseLabels } = await import('../evaluation/labels.ts');
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
