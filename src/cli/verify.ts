import type { Command } from 'commander';
import type { AnalyzeRequest } from '../analysis/analyze.ts';
import { type Signal, signals } from '../analysis/signals/table.ts';
import { channelModes } from '../analysis/speakers.ts';
import { parseUnambiguous } from '../receipts/canonical.ts';
import { type PublicKey, publicKeysSchema } from '../receipts/keys.ts';
import { type Answer, readAnswer } from '../receipts/read-answer.ts';
import type { Receipt, UnsignedReceipt } from '../receipts/receipt.ts';
import {
  type Comparison,
  compareReceipts,
  findMismatch,
  softwareDifferences,
  tolerance,
} from '../receipts/verify.ts';
import { parseConfig } from '../runtime/config.ts';
import { readSettings } from './analyze.ts';
import { collect, readBaselines } from './baselines.ts';
import { type CliContext, expected } from './context.ts';
import { readNamedFile } from './inputs.ts';
import { readSegments } from './parts.ts';

const examples = `
Checks the signature and the hashes, the report beside the receipt too, analyses the recording again and compares.
Offline: the keys are those of GET /.well-known/undertone-keys.json of the service, which \`undertone keys public\`
prints too.

Exit codes:
  0  the report is identical, or every score is within ${tolerance}; the output says when no report was given
  1  something differs; the output says what
  2  a file cannot be read, or has other fields than a receipt, a report or a job

Examples:
  undertone verify answer.json recording.wav --keys keys.json
  undertone verify receipt.json recording.wav --report answer.json --keys keys.json`;

type Options = {
  readonly keys: string;
  readonly report?: string;
  readonly baseline: readonly string[];
  readonly segments?: string;
  readonly models?: string;
};

export function registerVerify(program: Command, terminal: CliContext): void {
  program
    .command('verify')
    .description('check the receipt of a report')
    .argument('<receipt>', 'the receipt, or the response or job with it')
    .argument('<recording>', 'the file that was sent')
    .requiredOption('--keys <file>', 'public keys of the service')
    .option('--report <file>', 'a response or job in another file: is it the one of the receipt?')
    .option('--baseline <file>', 'a part `baseline` that was sent; several in the same order', collect, [])
    .option('--segments <file>', 'the part `segments`, if one was sent')
    .option('--models <name>', 'standard, fast, open or a folder (UNDERTONE_MODELS_DIR, or standard)')
    .addHelpText('after', examples)
    .action((receipt: string, recording: string, options: Options) =>
      verify(receipt, recording, options, terminal),
    );
}

async function verify(
  receiptPath: string,
  recordingPath: string,
  options: Options,
  terminal: CliContext,
): Promise<void> {
  const { maxBytes } = parseConfig(terminal.env).jobs;
  const answer = await readAnswerFile('receipt', receiptPath);
  const { receipt } = answer;
  if (receipt === null)
    throw expected('a report with a receipt', 'receipt', `${receiptPath}, which has none`);
  const keys = await readKeys(options.keys);
  const recording = await readNamedFile('recording', recordingPath, maxBytes);
  const baselines = await readBaselines(options.baseline, maxBytes);
  const segments = options.segments === undefined ? null : await readSegments(options.segments, terminal);
  const other = options.report === undefined ? [] : [await readAnswerFile('--report', options.report)];
  const reports = [answer, ...other].flatMap(({ report }) => report ?? []);
  const evidence = { recording, baselines, segments, reports };
  const mismatch = findMismatch(receipt, evidence, keys);
  const say = (line: string) => void terminal.stdout.write(`${line}\n`);
  if (mismatch !== null) {
    say(`different: ${mismatch}`);
    return terminal.fail();
  }
  const again = await analyzeAgain(toRequest(receipt, evidence), receipt, options, terminal);
  const comparison = compareReceipts(receipt, again);
  say(describe(comparison, reports.length > 0));
  if (comparison.outcome === 'identical') return;
  for (const difference of softwareDifferences(receipt, again)) say(`  ${difference}`);
  if (comparison.outcome === 'different') terminal.fail();
}

/** The verdict on a receipt alone never says `identical`. */
function describe(comparison: Comparison, checkedReport: boolean): string {
  const genuine = checkedReport ? '' : 'receipt genuine, no report checked: ';
  if (comparison.outcome === 'identical')
    return `${genuine || 'identical: '}the recording gives ${checkedReport ? 'this report' : 'its report'} again`;
  const { outcome, difference, field, stage } = comparison;
  const about = outcome === 'different' ? outcome : `${genuine}${outcome}`;
  if (stage === 'report') return `${about}: every score is equal, other fields of the report are not`;
  const size = Number.isFinite(difference) ? `by ${difference.toFixed(4)}` : 'in words';
  const from = stage === 'decode' ? 'decoding gives other samples' : 'decoding gives the same samples';
  return `${about}: ${field} differs most, ${size}; ${from}`;
}

type Evidence = Pick<AnalyzeRequest, 'baselines' | 'segments'> & { readonly recording: Uint8Array };

function toRequest({ options }: Receipt, { recording, ...parts }: Evidence): AnalyzeRequest {
  const { channel, channels } = options;
  return {
    audio: recording,
    ...parts,
    signals: signals.filter((signal: Signal) => options.signals.includes(signal)),
    channel,
    channels: channelModes.find((mode) => mode === channels) ?? null,
    hashSamples: true,
    cancel: null,
  };
}

async function analyzeAgain(
  request: AnalyzeRequest,
  { options: { ignored } }: Receipt,
  options: Options,
  terminal: CliContext,
): Promise<UnsignedReceipt> {
  const settings = await readSettings(options, terminal);
  const { createAnalyzer } = await import('../models/analyzer.ts');
  const { composeReport } = await import('../analysis/compose-report.ts');
  const { composeReceipt } = await import('../receipts/compose-receipt.ts');
  const { describeSoftware } = await import('../receipts/software.ts');
  // As long as the recording of a job.
  const { maxSeconds } = parseConfig(terminal.env).jobs;
  const limits = { ...settings.limits, seconds: maxSeconds, deadlineSeconds: 0 };
  const analyzer = await createAnalyzer({ ...settings, limits });
  const analyses = await analyzer.analyze(request);
  const report = { ...composeReport(request, analyses, ''), ...(ignored && { ignored }) };
  return composeReceipt(request, { analyses, report }, describeSoftware(analyzer.models), {
    keyId: '',
    purpose: null,
  });
}

async function readAnswerFile(name: string, path: string): Promise<Answer> {
  const answer = readAnswer(await readNamedFile(name, path));
  if (answer === null)
    throw expected('a receipt, a report or a job that is done', name, `another file: ${path}`);
  return answer;
}

async function readKeys(path: string): Promise<readonly PublicKey[]> {
  const bytes = await readNamedFile('--keys', path);
  try {
    return publicKeysSchema.parse(parseUnambiguous(bytes)).keys;
  } catch {
    throw expected('a file of public keys', '--keys', `another: ${path}`);
  }
}
