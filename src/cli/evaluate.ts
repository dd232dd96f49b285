import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { signals } from '../analysis/signals/table.ts';
import { defaultOptions } from '../analysis/types.ts';
import type { LabelledRecording } from '../evaluation/labels.ts';
import { entryFile } from '../runtime/worker-entries.ts';
import { readSettings } from './analyze.ts';
import type { AnalyzeResult, AnalyzeSettings, AnalyzeTask } from './analyze-thread.ts';
import { type CliContext, expected, UsageError } from './context.ts';
import { mapInOrder, parseJobs } from './parallel.ts';
import { countFiles, showProgress } from './progress.ts';
import { openScoresFile, type ScoresFile } from './scores-file.ts';

const examples = `
LABELS.csv has a first line with path (relative to the file) and one or more of label, valence, arousal, clarity (0 to 1);
speaker and group if known. Labels are those of the emotion model: neutral, calm, happy, sad, angry, fearful, disgusted, surprised.
The folder of --out gets report.html, report.json, and scores.jsonl, from which an interrupted run resumes. It has no audio.
Exit code 1: a recording could not be analysed.

Examples:
  undertone evaluate labels.csv
  undertone evaluate labels.csv --out reports/2026-11 --models fast`;

type Options = { readonly out: string; readonly models?: string; readonly jobs?: string };

export function registerEvaluate(program: Command, terminal: CliContext): void {
  program
    .command('evaluate')
    .description('measure how good the models are on labelled recordings of your own')
    .argument('<labels>', 'CSV file of recordings and labels')
    .option('--out <folder>', 'where the reports go', 'undertone-evaluation')
    .option('--models <name>', 'standard, fast or a folder (UNDERTONE_MODELS_DIR, or standard)')
    .option('--jobs <n>', 'files at a time (one per core)')
    .addHelpText('after', examples)
    .action((labels: string, options: Options) => evaluateLabels(labels, options, terminal));
}

async function evaluateLabels(path: string, options: Options, terminal: CliContext): Promise<void> {
  const recordings = await readLabels(path);
  const jobs = parseJobs(options.jobs);
  const settings = await readSettings(options, terminal);
  const { readManifests } = await import('../models/loader.ts');
  const manifests = await readManifests(settings.modelsDir);
  await mkdir(options.out, { recursive: true }).catch((error: Error) => {
    throw expected('a folder that can be written', '--out', error.message);
  });
  const file = await openScoresFile(join(options.out, 'scores.jsonl'), manifests);
  const missing = await findMissing(recordings, file);
  const failed = await score(missing, file, { jobs, settings, terminal });
  const { evaluate } = await import('../evaluation/evaluation.ts');
  const { evaluationPage } = await import('../evaluation/page.ts');
  const { evaluationText } = await import('../evaluation/text.ts');
  const scored = recordings.flatMap((recording) => {
    const scores = file.scores(recording.path);
    return scores === undefined ? [] : [{ recording, scores }];
  });
  const evaluation = evaluate(scored, manifests, { at: new Date(), failed });
  const { answers: _, ...report } = evaluation;
  await writeFile(join(options.out, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  await writeFile(join(options.out, 'report.html'), evaluationPage(evaluation));
  terminal.stdout.write(`${evaluationText(evaluation)}${join(options.out, 'report.html')}\n`);
  if (failed > 0) terminal.fail();
}

type ScoreOptions = {
  readonly jobs: number;
  readonly settings: AnalyzeSettings;
  readonly terminal: CliContext;
};

/** @returns how many recordings could not be analysed */
async function score(
  paths: readonly string[],
  file: ScoresFile,
  { jobs, settings, terminal }: ScoreOptions,
): Promise<number> {
  const tasks = paths.map(toTask);
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
      progress.note(`${path}: ${result.cause ?? result.error.msg}`);
    } else await file.add(path, result);
    await progress.step();
  }
  progress.end(`${countFiles(done)} analysed, ${failed} failed`);
  return failed;
}

async function readLabels(path: string): Promise<LabelledRecording[]> {
  const { LabelsError, parseLabels } = await import('../evaluation/labels.ts');
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw expected('a CSV file that can be read', 'labels', error.message);
  });
  try {
    return parseLabels(text, dirname(resolve(path)));
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

function toTask(path: string): AnalyzeTask {
  const { channel, segments, timeline } = defaultOptions;
  return { path, bytes: null, optional: false, signals, channel, segments, timeline };
}
