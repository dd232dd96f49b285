import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type Signal, signals } from '../analysis/signals/table.ts';
import { defaultOptions, timelines } from '../analysis/types.ts';
import { parseConfig } from '../runtime/config.ts';
import { entryFile } from '../runtime/worker-entries.ts';
import type { AnalyzeResult, AnalyzeSettings, AnalyzeTask, FileResult } from './analyze-thread.ts';
import { type CliContext, expected, UsageError, writeLine } from './context.ts';
import { csvHeader, type Part, tableHeader, titleOf, toCsv, toJsonLine, toTable } from './csv.ts';
import { findInputs } from './inputs.ts';
import { mapInOrder, parseJobs } from './parallel.ts';
import { checkInputs, type PartOptions, parseParts, partKind, partsOf } from './parts.ts';
import { countFiles, showProgress } from './progress.ts';
import { describeConversation, describeReport } from './text-report.ts';

const examples = `
Folders are walked, and every file in them is tried, whatever its name; - is a recording on standard input.
Results go to standard output, a bar and the summary to standard error. Exit code 1: a file failed.

Examples:
  undertone analyze interview.m4a
  undertone analyze --jsonl recordings > signals.jsonl
  undertone analyze --output csv --list paths.txt > signals.csv
  find . -name '*.ogg' -mtime -1 | undertone analyze --output table --list -
  ffmpeg -i film.mkv -t 60 -f wav - | undertone analyze -
  undertone analyze --signals emotion --jobs 2 a.wav b.ogg
  undertone analyze --channels split call.wav
  undertone analyze --segments call.rttm --output csv call.wav`;

type Kind = Part['kind'] | null;

type OutputFormat = {
  header?(kind: Kind): string;
  format(path: string, result: AnalyzeResult, kind: Kind): string;
};

/** A line or a block per channel or speaker. */
const perPart =
  (format: (path: string, result: FileResult, part: Part | null) => string): OutputFormat['format'] =>
  (path, result, kind) =>
    partsOf(result, kind)
      .map((one) => format(path, one.result, one.part))
      .join('\n');

const outputFormats: Readonly<Record<string, OutputFormat>> = {
  text: {
    format: (path, result, kind) => perPart(describe)(path, result, kind) + describeConversation(result),
  },
  table: { header: () => tableHeader, format: perPart(toTable) },
  csv: { header: csvHeader, format: perPart(toCsv) },
  jsonl: { format: toJsonLine },
};
const outputFormatNames = Object.keys(outputFormats).join(', ');

type Options = PartOptions & {
  readonly jsonl?: true;
  readonly output?: string;
  readonly list?: string;
  readonly signals: string;
  readonly modelsDir?: string;
  readonly jobs?: string;
};

export function registerAnalyze(program: Command, terminal: CliContext): void {
  program
    .command('analyze')
    .description('analyse recordings without a server')
    .argument('[path...]', 'files and folders, or -')
    .option('--list <file>', 'more of them, one a line; - is standard input')
    .option('--output <style>', `${outputFormatNames} (text)`)
    .option('--jsonl', 'one line of JSON a file: --output jsonl')
    .option('--signals <names>', `${signals.join(', ')}, or several with commas between`, signals.join(','))
    .option('--channel <n>', 'channel to analyse, counted from 0 (the average of all)')
    .option('--channels <mode>', 'split: each of two channels alone, and their conversation')
    .option('--segments <file>', 'JSON or RTTM: each speaker of one recording alone')
    .option('--timeline <entries>', timelines.join(' or '), defaultOptions.timeline)
    .option('--models-dir <folder>', 'models to use (UNDERTONE_MODELS_DIR, or those of this package)')
    .option('--jobs <n>', 'files at a time (one a core)')
    .addHelpText('after', examples)
    .action((paths: string[], options: Options) => analyzeFiles(paths, options, terminal));
}

async function analyzeFiles(paths: readonly string[], options: Options, terminal: CliContext): Promise<void> {
  const started = performance.now();
  const output = parseOutputFormat(options);
  const requested = parseSignals(options.signals);
  const jobs = parseJobs(options.jobs);
  const parts = await parseParts(options, requested);
  const kind = partKind(parts);
  const settings = await readSettings(options, terminal);
  const inputs = await findInputs(paths, options.list, terminal);
  checkInputs(inputs, parts);
  const tasks = inputs.map((input): AnalyzeTask => ({ ...input, ...parts, signals: requested }));
  const file = entryFile('cli/analyze-thread');
  const lost = (_: AnalyzeTask, { message }: Error): AnalyzeResult => ({
    error: internalItem,
    cause: message,
  });
  const progress = showProgress(tasks.length, terminal);
  const totals = { done: 0, failed: 0, seconds: 0 };
  if (output.header !== undefined) await writeLine(terminal.stdout, output.header(kind));
  for await (const result of mapInOrder({ file, jobs, settings, tasks, lost })) {
    const { path } = tasks[totals.done++] as AnalyzeTask;
    totals.failed += 'error' in result ? 1 : 0;
    totals.seconds += 'error' in result ? 0 : result.report.audio.duration_s;
    if ('error' in result && result.cause !== null) terminal.stderr.write(`${path}: ${result.cause}\n`);
    await progress.step(output.format(path, result, kind));
    if (terminal.stdoutClosed()) break;
  }
  progress.end(summarise(totals, performance.now() - started));
  if (totals.failed > 0) terminal.fail();
}

const internalItem = { loc: ['body', 'audio'], msg: 'internal error', type: 'internal' } as const;

function parseOutputFormat({ jsonl, output = jsonl ? 'jsonl' : 'text' }: Options): OutputFormat {
  const format = Object.hasOwn(outputFormats, output) ? outputFormats[output] : undefined;
  if (format === undefined) throw expected(`one of ${outputFormatNames}`, '--output', JSON.stringify(output));
  if (jsonl && format !== outputFormats.jsonl) throw expected('jsonl beside --jsonl', '--output', output);
  return format;
}

export function parseSignals(text: string): Signal[] {
  const names = text.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !signals.some((signal) => signal === name));
  if (wrong !== undefined) throw expected(signals.join(' or '), '--signals', JSON.stringify(wrong));
  return signals.filter((signal) => names.includes(signal));
}

/** Reads the manifests once, so that an invalid folder is one error instead of one per file. */
export async function readSettings(
  { modelsDir }: Pick<Options, 'modelsDir'>,
  { env }: CliContext,
): Promise<AnalyzeSettings> {
  const config = parseConfig(env);
  const { shippedModels } = await import('../index.ts');
  const { ModelError, readManifests } = await import('../models/loader.ts');
  const fallback = env.UNDERTONE_MODELS_DIR === undefined ? shippedModels : config.modelsDir;
  const folder = modelsDir === undefined ? fallback : resolve(modelsDir);
  await readManifests(folder).catch((error: Error) => {
    throw error instanceof ModelError ? new UsageError(error.message) : error;
  });
  return { modelsDir: folder, limits: config.limits };
}

function describe(path: string, result: FileResult, part: Part | null): string {
  if ('error' in result) return `${path}\n  failed: ${result.error.msg}`;
  return describeReport(titleOf(path, part), result.report);
}

function summarise(totals: { done: number; failed: number; seconds: number }, ms: number): string {
  return `${countFiles(totals.done)}, ${totals.failed} failed, ${totals.seconds.toFixed(1)} s of audio in ${(ms / 1000).toFixed(1)} s`;
}
