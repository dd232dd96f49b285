import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type Signal, signals } from '../analysis.ts';
import { parseConfig } from '../config.ts';
import { threadFile } from '../threads.ts';
import type { AnalyzeSettings, AnalyzeTask, Outcome } from './analyze-thread.ts';
import { parseJobs, workInOrder } from './crew.ts';
import { describeReport } from './describe.ts';
import { findFiles } from './files.ts';
import { countFiles, showProgress } from './progress.ts';
import { expected, type Terminal, UsageError } from './terminal.ts';

const examples = `
Folders are walked, and every file in them is tried, whatever its name. Exit code 1: a file failed.

Examples:
  undertone analyze interview.m4a
  undertone analyze --jsonl recordings > signals.jsonl
  undertone analyze --signals emotion --jobs 2 a.wav b.ogg`;

type Options = {
  readonly jsonl?: true;
  readonly signals: string;
  readonly modelsDir?: string;
  readonly jobs?: string;
};

export function addAnalyze(program: Command, terminal: Terminal): void {
  program
    .command('analyze')
    .description('analyse recordings without a server')
    .argument('<path...>', 'files and folders')
    .option('--jsonl', 'one line of JSON a file')
    .option('--signals <names>', 'emotion, cognitive, or both with a comma between', signals.join(','))
    .option('--models-dir <folder>', 'models to use (UNDERTONE_MODELS_DIR, or those of this package)')
    .option('--jobs <n>', 'files at a time (one a core)')
    .addHelpText('after', examples)
    .action((paths: string[], options: Options) => analyzeFiles(paths, options, terminal));
}

async function analyzeFiles(paths: readonly string[], options: Options, terminal: Terminal): Promise<void> {
  const started = performance.now();
  const wanted = parseSignals(options.signals);
  const jobs = parseJobs(options.jobs);
  const settings = await readSettings(options, terminal);
  const files = await findFiles(paths);
  const tasks = files.map((path): AnalyzeTask => ({ path, signals: wanted }));
  const file = threadFile('cli/analyze-thread');
  const lost = (_: AnalyzeTask, { message }: Error): Outcome => ({ error: internalItem, cause: message });
  const progress = showProgress(files.length, terminal);
  const sums = { done: 0, failed: 0, seconds: 0 };
  for await (const outcome of workInOrder({ file, jobs, settings, tasks, lost })) {
    const path = files[sums.done++] as string;
    sums.failed += 'error' in outcome ? 1 : 0;
    sums.seconds += 'error' in outcome ? 0 : outcome.report.audio.duration_s;
    if ('error' in outcome && outcome.cause !== null) terminal.stderr.write(`${path}: ${outcome.cause}\n`);
    await progress.step(options.jsonl ? toJson(path, outcome) : describe(path, outcome));
    if (terminal.readerGone()) break;
  }
  progress.end(summarise(sums, performance.now() - started));
  if (sums.failed > 0) terminal.fail();
}

const internalItem = { loc: ['body', 'audio'], msg: 'internal error', type: 'internal' } as const;

function parseSignals(text: string): Signal[] {
  const names = text.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !signals.some((signal) => signal === name));
  if (wrong !== undefined) throw expected(signals.join(' or '), '--signals', JSON.stringify(wrong));
  return signals.filter((signal) => names.includes(signal));
}

/** Models are checked here once, so that a wrong folder is one message and not one a file. */
async function readSettings({ modelsDir }: Options, { env }: Terminal): Promise<AnalyzeSettings> {
  const config = parseConfig(env);
  const { shippedModels } = await import('../index.ts');
  const { ModelError, readManifests } = await import('../models/registry.ts');
  const fallback = env.UNDERTONE_MODELS_DIR === undefined ? shippedModels : config.modelsDir;
  const folder = modelsDir === undefined ? fallback : resolve(modelsDir);
  await readManifests(folder).catch((error: Error) => {
    throw error instanceof ModelError ? new UsageError(error.message) : error;
  });
  return { modelsDir: folder, limits: config.limits };
}

function toJson(path: string, outcome: Outcome): string {
  return JSON.stringify('error' in outcome ? { path, error: outcome.error } : { path, ...outcome.report });
}

function describe(path: string, outcome: Outcome): string {
  return 'error' in outcome
    ? `${path}\n  failed: ${outcome.error.msg}`
    : describeReport(path, outcome.report);
}

function summarise(sums: { done: number; failed: number; seconds: number }, ms: number): string {
  return `${countFiles(sums.done)}, ${sums.failed} failed, ${sums.seconds.toFixed(1)} s of audio in ${(ms / 1000).toFixed(1)} s`;
}
