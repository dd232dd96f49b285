/** `undertone adapt`. */
import { access, rm } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Manifest, ManifestOf } from '../../engine/schema.ts';
import { escapeControls } from '../../node/controls.ts';
import { parseJobs, readSettings } from '../analysis-options.ts';
import { type CliContext, expected, UsageError } from '../context.ts';
import { readLabels } from '../evaluate/labels.ts';
import { type ScoredLabels, scoreLabels } from '../evaluate/score-recordings.ts';
import type { Example } from './examples.ts';

const examples = `
LABELS.csv is that of undertone evaluate, with the column speaker: path (relative to the file) and one or more of label,
valence, arousal, clarity (0 to 1). Labels may be new ones. From 30 recordings on, temperature, biases and lines are fitted;
from 200 on, weights of the embedding and new labels as well. Every fifth of the speakers is left out in turn: what does not
improve their scores is not kept. If nothing does, no models are written and the exit code is 1.

Examples:
  undertone adapt labels.csv --out models/ours
  undertone evaluate other-speakers.csv --models models/ours
  UNDERTONE_MODELS_DIR=models/ours undertone serve`;

type Options = { readonly out: string; readonly models?: string; readonly jobs?: string };

export function registerAdapt(program: Command, terminal: CliContext): void {
  program
    .command('adapt')
    .description('fit the models to labelled recordings of your own')
    .argument('<labels>', 'CSV file of recordings and labels')
    .requiredOption('--out <folder>', 'new folder of the adapted models')
    .option(
      '--models <name>',
      'standard, large, fast, research or a folder (UNDERTONE_MODELS_DIR, or standard)',
    )
    .option('--jobs <n>', 'files at a time (one per core)')
    .addHelpText('after', examples)
    .action((labels: string, options: Options) => adaptModels(labels, options, terminal));
}

async function adaptModels(path: string, options: Options, terminal: CliContext): Promise<void> {
  const out = resolve(options.out);
  const { recordings, sha256 } = await readLabels(path, terminal);
  const unnamed = recordings.filter(({ speaker }) => speaker === null).length;
  if (unnamed > 0)
    terminal.stderr.write(
      `${unnamed} recordings have no speaker: each counts as a speaker of its own, and is compared with others of the same voice\n`,
    );
  const jobs = parseJobs(options.jobs);
  const settings = await readSettings(options, terminal);
  await checkAbsent(out);
  const { readManifests } = await import('../../node/models.ts');
  const manifests = await readManifests(settings.modelsDir);
  await checkUnadapted(manifests, settings.modelsDir);
  // Next to --out, which appears when it is complete. An interrupted run resumes from it.
  const scores = `${out}.scores`;
  const known = await knownLabels(manifests, settings.modelsDir);
  const found = await scoreLabels(recordings, scores, manifests, {
    jobs,
    settings,
    terminal,
    embeddings: true,
  });
  const { isImprovement } = await import('./adaptation.ts');
  const { comparisonText } = await import('../evaluate/comparison.ts');
  const silent = found.scored.filter(({ embedding }) => embedding === null).length;
  if (silent > 0) terminal.stderr.write(`${silent} recordings have too little speech and are left out\n`);
  const adaptation = await learn(found, known);
  terminal.stdout.write(comparisonText(adaptation.comparisons));
  if (!isImprovement(adaptation)) {
    await rm(scores, { recursive: true });
    terminal.stderr.write(
      'No models are written: nothing improves the scores of speakers left out, or these are no better than chance\n',
    );
    return terminal.fail();
  }
  const { writeModels } = await import('./write-models.ts');
  const name = escapeControls(basename(path));
  const base = options.models === undefined ? '' : ` --models ${escapeControls(basename(options.models))}`;
  const command = `undertone adapt ${name}${base} --out ${escapeControls(basename(options.out))}`;
  await writeModels(settings.modelsDir, out, adaptation, { name, command, labelsSha256: sha256 });
  await rm(scores, { recursive: true });
  terminal.stdout.write(
    `${options.out}: ${adaptation.recordings} recordings of ${adaptation.speakers} speakers\n`,
  );
  if (found.failed > 0) terminal.fail();
}

async function checkUnadapted(manifests: readonly Manifest[], folder: string): Promise<void> {
  const { correctionOf } = await import('../../engine/schema.ts');
  if (manifests.some((manifest) => correctionOf(manifest) !== null))
    throw expected('models that are not adapted', '--models', `${folder}, which are`);
}

/** @throws UsageError for models that report no emotion (models/open of 1.0.0 did not) */
async function knownLabels(manifests: readonly Manifest[], folder: string): Promise<readonly string[]> {
  const { unavailableOf } = await import('../../engine/schema.ts');
  const emotion = manifests.find(({ kind }) => kind === 'emotion') as ManifestOf<'emotion'>;
  if (unavailableOf(emotion) !== null)
    throw expected(
      'models with emotion',
      '--models',
      `${folder}, which have none: adapt standard, large or fast`,
    );
  return emotion.labels ?? [];
}

async function learn({ scored }: ScoredLabels, known: readonly string[]) {
  const { adapt } = await import('./adaptation.ts');
  const usable = scored.flatMap(({ recording, scores, embedding }): Example[] =>
    embedding === null ? [] : [{ recording, scores, embedding: Float32Array.from(embedding) }],
  );
  try {
    return adapt(usable, known);
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error;
  }
}

async function checkAbsent(folder: string): Promise<void> {
  const found = await access(folder).then(
    () => true,
    () => false,
  );
  if (found) throw expected('a folder that does not exist', '--out', `${folder}, which exists`);
}
