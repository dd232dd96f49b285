import type { Command } from 'commander';
import { defaultOptions } from '../analysis/speakers.ts';
import { entryFile } from '../runtime/paths.ts';
import { isNoAudio, readSettings } from './analyze.ts';
import type { AnalyzeTask, EmbedResult } from './analyze-thread.ts';
import type { CliContext } from './context.ts';
import { displayPath, findInputs } from './inputs.ts';
import { mapInOrder, parseJobs } from './parallel.ts';
import { countFiles, showProgress } from './progress.ts';

const examples = `
One JSON line per recording: its embedding (mean over the speech), those of its utterances, and the model that made them.
Embeddings of other weights do not compare. They identify speakers: docs/embeddings.md.
Exit code 1: a recording could not be analysed.

Examples:
  undertone embed talk.mp3
  undertone embed talks > talks.jsonl
  undertone analyze --output csv --embeddings talks.npy talks > talks.csv`;

type Options = { readonly models?: string; readonly jobs?: string };

export function registerEmbed(program: Command, terminal: CliContext): void {
  program
    .command('embed')
    .description('embeddings of recordings and of their utterances, as JSON lines')
    .argument('<path...>', 'files and folders')
    .option('--models <name>', 'standard, fast, open or a folder (UNDERTONE_MODELS_DIR, or standard)')
    .option('--jobs <n>', 'files at a time (one per core)')
    .addHelpText('after', examples)
    .action((paths: string[], options: Options) => embedFiles(paths, options, terminal));
}

async function embedFiles(paths: readonly string[], options: Options, terminal: CliContext): Promise<void> {
  const jobs = parseJobs(options.jobs);
  const settings = await readSettings(options, terminal);
  const inputs = await findInputs([...paths], undefined, terminal, settings.maxBytes);
  const { channel, segments } = defaultOptions;
  const tasks = inputs.map(
    (input): AnalyzeTask => ({ ...input, signals: [], channel, segments, embedOnly: true }),
  );
  const progress = showProgress(tasks.length, terminal);
  const file = entryFile('cli/analyze-thread');
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
