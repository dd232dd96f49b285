/** `undertone evaluate`. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { nameSets } from '../../node/paths.ts';
import { parseJobs, readSettings } from '../analysis-options.ts';
import type { CliContext } from '../context.ts';
import { evaluate, evaluationText } from './evaluation.ts';
import { evaluationPage } from './evaluation-page.ts';
import { readLabels } from './labels.ts';
import { scoreLabels } from './score-recordings.ts';

const examples = `
LABELS.csv has a first line with path (relative to the file) and one or more of label, valence, arousal, clarity (0 to 1);
speaker and group if known; other columns are ignored. Labels are those of the emotion model: neutral, calm, happy, sad, angry, fearful, disgusted, surprised.
The folder of --out gets report.html, report.json, and scores.jsonl, from which an interrupted run resumes; scores of --compare
go to compared/scores.jsonl. It has no audio.
Exit code 1: a recording could not be analysed.

Examples:
  undertone evaluate labels.csv
  undertone evaluate labels.csv --out reports/2026-11 --models fast
  undertone evaluate labels.csv --models models/mine --compare standard`;

type Options = {
  readonly out: string;
  readonly models?: string;
  readonly compare?: string;
  readonly jobs?: string;
};

export function registerEvaluate(program: Command, terminal: CliContext): void {
  program
    .command('evaluate')
    .description('measure how good the models are on labelled recordings of your own')
    .argument('<labels>', 'CSV file of recordings and labels')
    .option('--out <folder>', 'where the reports go', 'undertone-evaluation')
    .option(
      '--models <name>',
      'standard, large, fast, research or a folder (UNDERTONE_MODELS_DIR, or standard)',
    )
    .option('--compare <name>', 'another set: figures of both on labels and dimensions that both have')
    .option('--jobs <n>', 'files at a time (one per core)')
    .addHelpText('after', examples)
    .action((labels: string, options: Options) => evaluateLabels(labels, options, terminal));
}

async function evaluateLabels(path: string, options: Options, terminal: CliContext): Promise<void> {
  const { recordings, sha256 } = await readLabels(path, terminal);
  const jobs = parseJobs(options.jobs);
  const judged = await readSet(options, terminal);
  const compared =
    options.compare === undefined ? null : await readSet({ models: options.compare }, terminal);
  const score = ({ settings, manifests }: ModelSet, folder: string) =>
    scoreLabels(recordings, folder, manifests, { jobs, settings, terminal, embeddings: false });
  const { scored, failed } = await score(judged, options.out);
  const other = compared && {
    ...compared,
    ...(await score(compared, join(options.out, 'compared'))),
    names: nameSets(compared.settings.modelsDir, judged.settings.modelsDir),
  };
  const evaluation = evaluate(scored, judged.manifests, { at: new Date(), failed, sha256, other });
  const { answers: _, ...report } = evaluation;
  await writeFile(join(options.out, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  await writeFile(join(options.out, 'report.html'), evaluationPage(evaluation));
  terminal.stdout.write(`${evaluationText(evaluation)}${join(options.out, 'report.html')}\n`);
  if (failed > 0 || (other?.failed ?? 0) > 0) terminal.fail();
}

type ModelSet = Awaited<ReturnType<typeof readSet>>;

async function readSet(options: Pick<Options, 'models'>, terminal: CliContext) {
  const settings = await readSettings(options, terminal);
  const { readManifests } = await import('../../node/models.ts');
  return { settings, manifests: await readManifests(settings.modelsDir) };
}
