/** `undertone analyze`. */
import type { Command } from 'commander';
import { type Signal, signals } from '../engine/schema.ts';
import { escapeControls } from '../node/controls.ts';
import { entryFile, modelSets } from '../node/paths.ts';
import {
  baselineOption,
  collect,
  type ModelOptions,
  parseJobs,
  parseSignals,
  readBaselines,
  readSettings,
} from './analysis-options.ts';
import type { AnalyzeResult, AnalyzeTask, EmbedResult, FileProgress } from './analyze-thread.ts';
import { rowUnits } from './columns.ts';
import { type CliContext, expected, writeLine } from './context.ts';
import { openEmbeddingsFile } from './embeddings-file.ts';
import { checkStandardInput, displayPath, findInputs } from './inputs.ts';
import { mapInOrder } from './map-in-order.ts';
import { createOutput, type OutputOptions, outputNames, parseOutput } from './output.ts';
import { placeFiles, writeNew } from './output-files.ts';
import { checkInputs, type PartOptions, parseParts, partKind } from './parts.ts';
import { countFiles, showProgress } from './progress.ts';

const examples = `
Folders are walked, and every file in them is tried, whatever its name. One that has neither the name nor the content of
audio is skipped; JSON lines list it with its error. - is a recording on standard input.
Results go to standard output, a bar and the summary to standard error. Exit code 1: a file failed.

Examples:
  undertone analyze interview.m4a
  undertone analyze --jsonl recordings > signals.jsonl
  undertone analyze --output csv --list paths.txt > signals.csv
  find . -name '*.ogg' -mtime -1 | undertone analyze --output table --list -
  ffmpeg -i film.mkv -t 60 -f wav - | undertone analyze -
  undertone analyze --signals emotion --jobs 2 a.wav b.ogg
  undertone analyze --output csv --by utterance talk.wav
  undertone analyze --output parquet recordings > signals.parquet
  undertone analyze --output csv --embeddings talks.npy talks > talks.csv
  undertone analyze --output textgrid --out annotations recordings
  undertone analyze --channels split call.wav
  undertone analyze --baseline rested.wav talk.wav
  undertone analyze --segments call.rttm --output csv call.wav
  undertone analyze --speakers 2 call.mp3`;

type Options = ModelOptions &
  PartOptions &
  OutputOptions & {
    readonly list?: string;
    readonly signals: string;
    readonly jobs?: string;
    readonly embeddings?: string;
    readonly out?: string;
  };

export function registerAnalyze(program: Command, terminal: CliContext): void {
  program
    .command('analyze')
    .description('analyse recordings without a server')
    .argument('[path...]', 'files and folders, or -')
    .option('--list <file>', 'more of them, one a line; - is standard input')
    .option('--output <style>', `${outputNames.join(', ')} (text)`)
    .option('--wide', 'CSV with intervals, probabilities and measures, as Parquet always has')
    .option('--by <unit>', `rows of CSV and Parquet: ${rowUnits.join(', ')} (file)`)
    .option('--embeddings <file>', '.npy: one row of float32 per recording, or per row of --by utterance')
    .option(
      '--out <folder>',
      'folder of textgrid and audacity: a new file per recording (standard output, for one)',
    )
    .option('--jsonl', 'one line of JSON a file: --output jsonl')
    .option('--signals <names>', `${signals.join(', ')}, or several with commas between`, signals.join(','))
    .option('--channel <n>', 'channel to analyse, counted from 0 (the average of all)')
    .option('--track <n>', 'audio track to analyse, counted from 0 (the default one of each file)')
    .option('--channels <mode>', 'split: each of two channels alone, and their conversation')
    .option('--segments <file>', 'JSON or RTTM, - is standard input: each speaker of one recording alone')
    .option('--speakers <count>', 'voices on one channel, each alone: 2 to 6, or auto')
    .option(...baselineOption, collect, [])
    .option('--models <name>', `${modelSets.join(', ')} or a folder (UNDERTONE_MODELS_DIR, or standard)`)
    .option('--models-dir <folder>', 'a folder alone; --models takes names too')
    .option('--jobs <n>', 'files at a time (one a core)')
    .addHelpText('after', examples)
    .action((paths: string[], options: Options) => analyzeFiles(paths, options, terminal));
}

async function analyzeFiles(paths: readonly string[], options: Options, terminal: CliContext): Promise<void> {
  const started = performance.now();
  const outputOptions = parseOutput(options);
  const requested = parseSignals(options.signals);
  const jobs = parseJobs(options.jobs);
  checkStandardInput([...paths, options.list ?? '', options.segments ?? '']);
  const parts = await parseParts(options, requested, terminal);
  const kind = partKind(parts);
  const common = await readSettings(options, terminal);
  const settings = { ...common, baselines: await readBaselines(options.baseline, common.maxBytes) };
  const { labels, trunk, lacksEmotion } = await describeModels(settings.modelsDir);
  if (outputOptions.by === 'utterance') checkUtterances(requested, lacksEmotion);
  const output = createOutput(outputOptions, kind, labels);
  if (kind !== null && options.embeddings !== undefined)
    throw expected(
      `no --${options.channels ? 'channels' : options.segments ? 'segments' : 'speakers'}`,
      '--embeddings',
      'both: remove one of them',
    );
  const embeddings =
    options.embeddings === undefined ? null : openEmbeddingsFile(options.embeddings, outputOptions.by, trunk);
  if (output.end !== undefined && terminal.stdout.isTTY)
    throw expected('a file or a pipe', '--output', 'parquet for a terminal: add > FILE');
  const inputs = await findInputs(paths, options.list, terminal, settings.maxBytes);
  checkInputs(inputs, parts);
  const files = placeFiles(inputs, outputOptions.name, output, options.out);
  const tasks = inputs.map(
    (input): AnalyzeTask => ({
      ...input,
      ...parts,
      signals: requested,
      embeddings: embeddings !== null,
    }),
  );
  const file = entryFile('tools/analyze-thread');
  const lost = (_: AnalyzeTask, { message }: Error): AnalyzeResult => ({
    error: internalItem,
    cause: message,
  });
  if (output.header !== undefined) await writeLine(terminal.stdout, output.header);
  const progress = showProgress(tasks.length, terminal);
  const totals = { done: 0, failed: 0, skipped: 0, seconds: 0 };
  const onNote = ({ path, part }: FileProgress) => progress.advance(path, part);
  for await (const result of mapInOrder({ file, jobs, settings, tasks, lost, onNote })) {
    const target = files?.[totals.done];
    const { path, optional } = tasks[totals.done++] as AnalyzeTask;
    const skipped = optional && isNoAudio(result);
    if (skipped) totals.skipped++;
    else if ('error' in result) totals.failed++;
    else totals.seconds += result.report.audio.duration_s;
    if ('error' in result && result.cause !== null) progress.note(result.cause, path);
    else if ('error' in result && output.extension !== undefined && !skipped)
      progress.note(result.error.msg, path);
    if (!skipped || output.listSkipped) embeddings?.add(result);
    const shown = output.shortPaths ? escapeControls(displayPath(path)) : path;
    const text = skipped && !output.listSkipped ? undefined : output.format(shown, result);
    const problem = target && text !== undefined ? await writeNew(target, `${text}\n`) : null;
    if (problem) {
      totals.failed++;
      progress.note(problem, path);
    }
    const printed = target === undefined ? text : undefined;
    await progress.step(
      output.isData && printed !== undefined && !terminal.stdout.isTTY ? Buffer.from(printed) : printed,
      path,
    );
    if (terminal.stdoutClosed()) break;
  }
  if (output.end !== undefined) terminal.stdout.write(await output.end());
  if (embeddings !== null) progress.note(await embeddings.write());
  progress.end(summarise(totals, performance.now() - started));
  if (totals.failed > 0) terminal.fail();
}

const internalItem = { loc: ['body', 'audio'], msg: 'internal error', type: 'internal' } as const;

/** Labels of the emotion model, whether it is a placeholder, and the version of the trunk. */
async function describeModels(modelsDir: string) {
  const { readManifests } = await import('../node/models.ts');
  const { unavailableOf } = await import('../engine/schema.ts');
  const manifests = await readManifests(modelsDir);
  const trunk = manifests.find(({ kind }) => kind === 'trunk');
  const emotion = manifests.find(({ kind }) => kind === 'emotion');
  return {
    labels: emotion?.labels ?? [],
    lacksEmotion: emotion === undefined || unavailableOf(emotion) !== null,
    trunk: `${trunk?.name} ${trunk?.version}`,
  };
}

/** Utterances have scores of emotion alone. @throws UsageError */
function checkUtterances(requested: readonly Signal[], lacksEmotion: boolean): void {
  if (!requested.includes('emotion'))
    throw expected('emotion among --signals', '--by utterance', requested.join(','));
  if (lacksEmotion) throw expected('models with emotion', '--by utterance', 'others: choose --models');
}

/** Whether a file is no recording at all. */
export function isNoAudio(result: AnalyzeResult | EmbedResult): boolean {
  return 'error' in result && /\.(unsupported|empty)$/.test(result.error.type);
}

type Totals = { done: number; failed: number; skipped: number; seconds: number };

function summarise(totals: Totals, ms: number): string {
  const skipped = totals.skipped === 0 ? '' : `${totals.skipped} skipped without audio, `;
  return `${countFiles(totals.done)}, ${totals.failed} failed, ${skipped}${totals.seconds.toFixed(1)} s of audio in ${(ms / 1000).toFixed(1)} s`;
}
