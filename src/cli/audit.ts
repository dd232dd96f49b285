import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readSettings } from './analyze.ts';
import { type CliContext, expected } from './context.ts';

const examples = `
Repeats on this machine what is promised, and writes a dated report in Markdown:
  goldens     every model on a synthetic signal, against golden.json
  recordings  the recordings of models/failures, against failures.json
  figures     with --data: the figures of the model cards, on the test part of the labelled recordings, by
              training/evaluate of a checkout (some minutes)
Exit code 1: something differs by more than its tolerance.

Examples:
  undertone audit
  undertone audit --data data --out audit.md`;

type Options = { readonly models?: string; readonly data?: string; readonly out?: string };

export function registerAudit(program: Command, terminal: CliContext): void {
  program
    .command('audit')
    .description('repeat on this machine what the model cards promise')
    .option('--models <name>', 'standard, fast, open or a folder (UNDERTONE_MODELS_DIR, or standard)')
    .option('--data <folder>', 'labelled recordings with index.csv')
    .option('--out <file>', 'where the report goes (undertone-audit-DATE.md)')
    .addHelpText('after', examples)
    .action((options: Options) => audit(options, terminal));
}

async function audit(options: Options, terminal: CliContext): Promise<void> {
  const settings = await readSettings(options, terminal);
  const { hasPassed, runAudit } = await import('../audit/audit.ts');
  const { toMarkdown } = await import('../audit/markdown.ts');
  const at = new Date();
  const path = options.out ?? `undertone-audit-${at.toISOString().slice(0, 10)}.md`;
  const result = await runAudit({
    ...settings,
    data: options.data === undefined ? null : resolve(options.data),
    env: terminal.env,
    onStart: (part) => terminal.stderr.write(`${part} ...\n`),
  });
  await writeFile(path, toMarkdown(result, at)).catch((error: Error) => {
    throw expected('a file that can be written', '--out', error.message);
  });
  const passed = hasPassed(result);
  terminal.stdout.write(`${passed ? 'passed' : 'failed'}: ${path}\n`);
  if (!passed) terminal.fail();
}
