/** Scores the recordings of a file of labels: shows progress, and resumes from the file of an interrupted run. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultOptions } from '../../engine/index.ts';
import { type Manifest, signals } from '../../engine/schema.ts';
import { entryFile } from '../../node/paths.ts';
import type { AnalyzeResult, AnalyzeSettings, AnalyzeTask } from '../analyze-thread.ts';
import { type CliContext, expected } from '../context.ts';
import { mapInOrder } from '../map-in-order.ts';
import { countFiles, showProgress } from '../progress.ts';
import type { LabelledRecording } from './labels.ts';
import { openScoresFile, type ScoredFile, type ScoresFile } from './scores.ts';

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

/** Recordings without scores of these models, or that have changed since. Each path once. */
async function findMissing(recordings: readonly LabelledRecording[], file: ScoresFile): Promise<string[]> {
  const paths = [...new Set(recordings.map(({ path }) => path))];
  const known = await Promise.all(paths.map((path) => file.isCurrent(path)));
  return paths.filter((_, index) => !known[index]);
}

function toTask(path: string, embeddings: boolean): AnalyzeTask {
  const { channel, track, segments, speakers } = defaultOptions;
  return { path, bytes: null, optional: false, signals, channel, track, segments, speakers, embeddings };
}
