/** `undertone models`. */
import { fork } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Manifest } from '../../engine/schema.ts';
import { checkGraph } from '../../node/onnx-operators.ts';
import { entryFile, modelSets, shippedModels } from '../../node/paths.ts';
import { collect, readSettings } from '../analysis-options.ts';
import { type CliContext, expected, formatTable, UsageError } from '../context.ts';
import { residentMebibytes } from '../process-usage.ts';
import { composeSamplesGraph } from './compose.ts';
import { readSource } from './description.ts';
import { mapLabels } from './labels.ts';
import { readSourceGraph } from './source-graph.ts';
import type { TrialResult } from './trial.ts';
import { writeSet } from './write-set.ts';

const addExamples = `
SOURCE is a folder as optimum-cli export onnx writes it (wav2vec2, HuBERT, WavLM, data2vec, UniSpeech, Whisper or AST), or an
ONNX file with a JSON file of the same name that describes it: docs/your-model.md. A classifier answers emotion; an encoder adds
its hidden states to the embeddings, for undertone adapt; valence and arousal replace those of reports. Clarity, load, processing and voices are those of --models.

Examples:
  undertone models add wav2vec2-emotion/ --out models/mine
  undertone models add vendor.onnx --out models/vendor --licence "as agreed with the vendor" --label ang=angry
  UNDERTONE_MODELS_DIR=models/mine undertone serve`;
const listExamples = `
FOLDER holds folders of models; models/ of the working folder by default, after the shipped ones.

Examples:
  undertone models list`;
const removeExamples = `
Examples:
  undertone models remove models/mine`;

type AddOptions = {
  readonly out: string;
  readonly models?: string;
  readonly licence?: string;
  readonly label: readonly string[];
  readonly maxMemory: string;
  readonly maxSeconds: string;
};

export function registerModels(program: Command, terminal: CliContext): void {
  const models = program.command('models').description('use models of other makers');
  models
    .command('add')
    .description('make a set of models around an ONNX file')
    .argument('<source>', 'an exported folder, or an ONNX file')
    .requiredOption('--out <folder>', 'new folder of the set')
    .option('--models <name>', 'the set that has what the source lacks (standard)')
    .option('--licence <text>', 'licence of the source, where its card states none')
    .option('--label <old=new>', 'name of a label in reports; repeatable', collect, [])
    .option('--max-memory <mebibytes>', 'memory that a trial may take', '8192')
    .option('--max-seconds <seconds>', 'time that a trial may take', '120')
    .addHelpText('after', addExamples)
    .action((source: string, options: AddOptions) => add(source, options, terminal));
  models
    .command('list')
    .description('list sets of models')
    .argument('[folder]', 'folder of sets', 'models')
    .addHelpText('after', listExamples)
    .action((folder: string) => list(folder, terminal));
  models
    .command('remove')
    .description('remove a set that `models add` or `adapt` made')
    .argument('<folder>', 'folder of the set')
    .addHelpText('after', removeExamples)
    .action((folder: string) => remove(folder, terminal));
}

async function add(path: string, options: AddOptions, terminal: CliContext): Promise<void> {
  const out = resolve(options.out);
  if (existsSync(out))
    throw expected('a folder that does not exist', '--out', `${options.out}, which exists`);
  const [mebibytes, seconds] = [
    positive(options.maxMemory, '--max-memory'),
    positive(options.maxSeconds, '--max-seconds'),
  ];
  const { modelsDir: base } = await readSettings({ models: options.models ?? 'standard' }, terminal);
  const { onnx, description } = await readSource(path, options.licence ?? null);
  const labels = description.labels && mapLabels(description.labels, parseLabels(options.label));
  const graph = composeSamplesGraph(await readSourceGraph(onnx), description);
  try {
    checkGraph(graph.bytes);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  await mkdir(dirname(out), { recursive: true });
  const partial = await mkdtemp(`${out}.partial-`);
  await writeSet(partial, base, { description, graph, labels });
  const probabilities = description.areProbabilities ? (labels?.length ?? 0) : 0;
  const trial = await tryOut(partial, probabilities, { mebibytes, seconds });
  if ('error' in trial) {
    await rm(partial, { recursive: true });
    terminal.stderr.write(`${trial.error}\n`);
    return terminal.fail();
  }
  await rename(partial, out);
  const rate = Math.round((1000 * trial.seconds) / trial.milliseconds);
  terminal.stdout.write(
    [
      `${options.out}: ${(labels ?? description.dimensions?.map(({ name }) => name))?.join(', ') ?? `encoder of ${graph.width} values`}`,
      `licence of ${description.model}: ${description.licence} (${commercialUse(description.licence)})`,
      `${Math.round(trial.milliseconds)} ms for an utterance of ${trial.seconds} s on one core: ${rate} s of speech per second`,
      labels === null && description.dimensions === null
        ? `scores are those of ${options.models ?? 'standard'} until undertone adapt fits them: undertone adapt labels.csv --models ${options.out} --out models/ours`
        : `not calibrated: undertone adapt labels.csv --models ${options.out} --out models/ours`,
      '',
    ].join('\n'),
  );
}

function positive(value: string, name: string): number {
  const number = Number(value);
  if (!(Number.isFinite(number) && number > 0)) throw expected('a number above 0', name, value);
  return number;
}

function parseLabels(pairs: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    pairs.map((pair) => {
      const at = pair.lastIndexOf('=');
      if (at < 1 || at === pair.length - 1) throw expected('OLD=NEW', '--label', pair);
      return [pair.slice(0, at), pair.slice(at + 1)] as const;
    }),
  );
}

/** What the name of a licence says. */
function commercialUse(licence: string): string {
  if (/\bnc\b|non-?commercial|research/i.test(licence)) return 'it forbids commercial use';
  if (/^(mit|apache-2\.0|bsd-[23]-clause|cc0-1\.0|cc-by-4\.0|cc-by-sa-4\.0|unlicense|isc)$/i.test(licence))
    return 'it permits commercial use on its terms';
  return 'whether it permits commercial use, its text says';
}

const headings = ['SET', 'EMOTION', 'STATE', 'LICENCE'];
const pollMs = 20;

/** In another process: a run cannot be stopped, a process can. */
async function tryOut(
  out: string,
  probabilities: number,
  { mebibytes, seconds }: { readonly mebibytes: number; readonly seconds: number },
): Promise<TrialResult> {
  const child = fork(entryFile('tools/models/trial'), [out, String(probabilities)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let result: TrialResult | null = null;
  child.once('message', (message: TrialResult) => {
    result = message;
  });
  child.once('exit', (code, signal) => {
    result ??= { error: `The trial ended with ${signal ?? code}` };
  });
  const stop = (error: string): TrialResult => {
    child.kill('SIGKILL');
    return { error };
  };
  const started = performance.now();
  while (result === null) {
    await sleep(pollMs);
    if (memoryOf(child.pid as number) > mebibytes)
      return stop(
        `Expected a model that runs in ${mebibytes} MiB, got one that takes more: --max-memory allows it`,
      );
    if (performance.now() - started > seconds * 1000)
      return stop(
        `Expected a model that runs within ${seconds} s, got one that takes longer: --max-seconds allows it`,
      );
  }
  return result;
}

/** 0 on systems without /proc, and once the process has ended. */
function memoryOf(pid: number): number {
  try {
    return residentMebibytes(pid) || 0;
  } catch {
    return 0;
  }
}

async function list(folder: string, terminal: CliContext): Promise<void> {
  const added = existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(folder, name))
    : [];
  const shipped = modelSets.map((name) => join(shippedModels, '..', name));
  const paths = [...shipped, ...added.map((path) => resolve(path)).filter((path) => !shipped.includes(path))];
  const rows = await Promise.all(paths.map(describeSet));
  terminal.stdout.write(formatTable([headings, ...rows.filter((row) => row !== null)]));
}

/** Null for a folder that holds no models. */
async function describeSet(path: string): Promise<string[] | null> {
  if (!existsSync(join(path, 'emotion', 'manifest.json'))) return null;
  const name = relative('', path) || path;
  try {
    const { readManifests } = await import('../../node/models.ts');
    const manifests = await readManifests(path);
    const emotion = manifests.find(({ kind }) => kind === 'emotion') as Manifest & { kind: 'emotion' };
    const { labels, origin, licence } = emotion;
    const stated = origin ? `${origin.model}: ${origin.licence}` : licence;
    return [name, (labels ?? []).join(' '), await stateOf(emotion), stated];
  } catch (error) {
    return [name, '-', `does not load: ${(error as Error).message}`, '-'];
  }
}

async function stateOf(emotion: Manifest & { kind: 'emotion' }): Promise<string> {
  const { correctionOf } = await import('../../engine/schema.ts');
  if (correctionOf(emotion) !== null) return 'adapted';
  return emotion.params.uncalibrated ? 'not calibrated' : 'calibrated';
}

async function remove(folder: string, terminal: CliContext): Promise<void> {
  const path = await realpath(folder).catch(() => null);
  if (path === null) throw expected('a folder of models', 'folder', folder);
  const shipped = await Promise.all(
    modelSets.map((name) => realpath(join(shippedModels, '..', name)).catch(() => null)),
  );
  if (shipped.includes(path)) throw expected('a set that was added', 'folder', `${folder}, which is shipped`);
  const { readManifests } = await import('../../node/models.ts');
  const manifests = await readManifests(path).catch((error: Error) => {
    throw expected('a folder of models', 'folder', `${folder}: ${error.message}`);
  });
  const known = new Set<string>(manifests.map(({ name }) => name));
  const other = readdirSync(path).find((name) => !known.has(name));
  if (other !== undefined) throw expected('a folder of models alone', 'folder', `${folder} with ${other}`);
  await rm(path, { recursive: true });
  terminal.stdout.write(`removed ${folder}\n`);
}
