/** `undertone features` and `undertone embed`. */
import { basename, extname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { defaultOptions, type FeatureSpec, isAudioError } from '../engine/index.ts';
import { prosody, type SpecName, specs } from '../node/feature-specs.ts';
import { entryFile } from '../node/paths.ts';
import { parseConfig } from '../service/config.ts';
import { parseJobs, readSettings } from './analysis-options.ts';
import { isNoAudio } from './analyze.ts';
import type { AnalyzeTask, EmbedResult } from './analyze-thread.ts';
import { type CliContext, expected } from './context.ts';
import type { Extracted, FeaturesSettings, FeaturesTask } from './features-thread.ts';
import {
  checkStandardInput,
  displayPath,
  findInputs,
  readBytes,
  readLines,
  readNamedFile,
  standardInput,
} from './inputs.ts';
import { mapInOrder } from './map-in-order.ts';
import { countFiles, showProgress } from './progress.ts';

const examples = `
Arrays are float32, [frames, bins]; - is a recording on standard input. Named specs:
  ${Object.keys(specs).join('\n  ')}
  ${prosody}: pitch in Hz (0 where unvoiced), level in dBFS, spectral tilt in dB per octave; one row per 10 ms

Examples:
  undertone features talk.mp3 --spec whisper-log-mel-80 --out talk.npy
  undertone features *.wav --spec kaldi-mfcc-13 --out features
  undertone features --list pairs.tsv --spec mine.json   (lines of INPUT<TAB>OUTPUT)
  undertone features - --spec whisper-log-mel-80 --out talk.npy < talk.mp3`;

type Options = {
  readonly spec: string;
  readonly out?: string;
  readonly list?: string;
  readonly jobs?: string;
};

export function registerFeatures(program: Command, terminal: CliContext): void {
  program
    .command('features')
    .description('write log-mel, MFCC or prosody arrays (.npy) of recordings')
    .argument('[file...]', 'recordings, or -')
    .requiredOption('--spec <name>', 'a named spec, or a .json file with a whole one')
    .option('--out <path>', 'a folder, or one .npy file for one recording')
    .option('--list <file>', 'pairs of input and output instead, a tab between; - is standard input')
    .option('--jobs <n>', 'files at a time (one a core)')
    .addHelpText('after', examples)
    .action((files: string[], options: Options) => writeFeatures(files, options, terminal));
}

async function writeFeatures(
  files: readonly string[],
  options: Options,
  terminal: CliContext,
): Promise<void> {
  const started = performance.now();
  const jobs = parseJobs(options.jobs);
  const spec = await readSpec(options.spec);
  const {
    limits,
    jobs: { maxBytes },
  } = parseConfig(terminal.env);
  const pairs =
    options.list === undefined
      ? pairUp(files, options.out)
      : await readPairs(options.list, files, options, terminal);
  const tasks = checkOutputs(
    await toTasks(pairs, terminal, maxBytes),
    options.list === undefined ? 'file' : '--list',
  );
  const settings: FeaturesSettings = { spec, limits, maxBytes };
  const file = entryFile('tools/features-thread');
  const lost = (_: FeaturesTask, { message }: Error): Extracted => ({ error: message });
  const progress = showProgress(tasks.length, terminal);
  const totals = { done: 0, failed: 0, frames: 0 };
  for await (const extracted of mapInOrder({ file, jobs, settings, tasks, lost })) {
    const { path } = tasks[totals.done++] as FeaturesTask;
    if ('error' in extracted) {
      totals.failed++;
      progress.note(extracted.error, path);
    } else totals.frames += extracted.frames;
    await progress.step();
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  progress.end(
    `${countFiles(totals.done)}, ${totals.failed} failed, ${totals.frames} frames in ${seconds} s`,
  );
  if (totals.failed > 0) terminal.fail();
}

/** The extractor validates the spec before any file is read. */
async function readSpec(name: string): Promise<FeaturesSettings['spec']> {
  if (name === prosody) return prosody;
  if (Object.hasOwn(specs, name)) return specs[name as SpecName];
  if (extname(name) !== '.json') {
    throw expected(
      `${[...Object.keys(specs), prosody].join(', ')} or a .json file`,
      '--spec',
      JSON.stringify(name),
    );
  }
  const spec = await readJson(name);
  const { extract } = await import('../node/addon.ts');
  try {
    extract(new Float32Array(1), spec as FeatureSpec);
  } catch (error) {
    if (!isAudioError(error)) throw error;
    throw expected('a whole feature spec', '--spec', `${name}: ${error.reason}`);
  }
  return spec as FeatureSpec;
}

async function readJson(path: string): Promise<unknown> {
  const text = (await readNamedFile('--spec', path)).toString();
  try {
    return JSON.parse(text);
  } catch (error) {
    throw expected('a file of JSON', '--spec', `${path}: ${(error as Error).message}`);
  }
}

type Pair = readonly [input: string, output: string];

function pairUp(files: readonly string[], out: string | undefined): Pair[] {
  if (files.length === 0) throw expected('at least one recording', 'file', 'none');
  if (out === undefined) throw expected('a folder or a .npy file', '--out', 'nothing');
  const single = extname(out) === '.npy';
  if (single && files.length > 1)
    throw expected('a folder', '--out', `${out} for ${files.length} recordings`);
  checkStandardInput(files);
  const nameOf = (file: string) =>
    file === standardInput ? 'stdin.npy' : `${basename(file, extname(file))}.npy`;
  return files.map((file) => [file, single ? out : join(out, nameOf(file))]);
}

async function readPairs(
  list: string,
  files: readonly string[],
  { out }: Options,
  terminal: CliContext,
): Promise<Pair[]> {
  if (files.length > 0 || out !== undefined)
    throw expected('no recordings and no --out with it', '--list', list);
  const pairs = (await readLines(list, terminal)).map((line) => {
    const [input, output, ...more] = line.split('\t');
    if (!input || !output || more.length > 0)
      throw expected('INPUT<TAB>OUTPUT a line', '--list', JSON.stringify(line));
    return [input, output] as const;
  });
  checkStandardInput([list, ...pairs.map(([input]) => input)]);
  return pairs;
}

function toTasks(pairs: readonly Pair[], terminal: CliContext, maxBytes: number): Promise<FeaturesTask[]> {
  const tasks = pairs.map(async ([input, output]) =>
    input === standardInput
      ? { path: input, bytes: await readBytes(terminal, maxBytes), output: resolve(output) }
      : { path: resolve(input), bytes: null, output: resolve(output) },
  );
  return Promise.all(tasks);
}

/** Two recordings with one output would overwrite each other. @throws UsageError */
function checkOutputs(tasks: FeaturesTask[], name: string): FeaturesTask[] {
  const seen = new Set<string>();
  for (const { output } of tasks) {
    if (seen.has(output)) throw expected('recordings with different outputs', name, `two for ${output}`);
    seen.add(output);
  }
  return tasks;
}

const embedExamples = `
One JSON line per recording: its embedding (mean over the speech), those of its utterances, and the model that made them.
Embeddings of other weights do not compare. They identify speakers: docs/adapt.md.
Exit code 1: a recording could not be analysed.

Examples:
  undertone embed talk.mp3
  undertone embed talks > talks.jsonl
  undertone analyze --output csv --embeddings talks.npy talks > talks.csv`;

type EmbedOptions = { readonly models?: string; readonly jobs?: string };

export function registerEmbed(program: Command, terminal: CliContext): void {
  program
    .command('embed')
    .description('embeddings of recordings and of their utterances, as JSON lines')
    .argument('<path...>', 'files and folders')
    .option(
      '--models <name>',
      'standard, large, fast, research or a folder (UNDERTONE_MODELS_DIR, or standard)',
    )
    .option('--jobs <n>', 'files at a time (one per core)')
    .addHelpText('after', embedExamples)
    .action((paths: string[], options: EmbedOptions) => embedFiles(paths, options, terminal));
}

async function embedFiles(
  paths: readonly string[],
  options: EmbedOptions,
  terminal: CliContext,
): Promise<void> {
  const jobs = parseJobs(options.jobs);
  const settings = await readSettings(options, terminal);
  const inputs = await findInputs([...paths], undefined, terminal, settings.maxBytes);
  const { channel, track, segments, speakers } = defaultOptions;
  const tasks = inputs.map(
    (input): AnalyzeTask => ({ ...input, signals: [], channel, track, segments, speakers, embedOnly: true }),
  );
  const progress = showProgress(tasks.length, terminal);
  const file = entryFile('tools/analyze-thread');
  const lost = (_: AnalyzeTask, { message }: Error): EmbedResult => ({
    error: { loc: ['body', 'audio'], msg: 'internal error', type: 'internal' },
    cause: message,
  });
  let done = 0;
  let failed = 0;
  for await (const result of mapInOrder({ file, jobs, settings, tasks, lost })) {
    const task = tasks[done++] as AnalyzeTask;
    const path = displayPath(task.path);
    if (task.optional && isNoAudio(result)) await progress.step();
    else if ('error' in result) {
      failed++;
      progress.note(result.cause ?? result.error.msg, path);
      await progress.step();
    } else await progress.step(JSON.stringify({ path, ...result.report }));
    if (terminal.stdoutClosed()) break;
  }
  progress.end(`${countFiles(done)}, ${failed} failed`);
  if (failed > 0) terminal.fail();
}
