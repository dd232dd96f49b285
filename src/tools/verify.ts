/** `undertone verify` and `undertone keys`. */

import { join } from 'node:path';
import type { Command } from 'commander';
import { type AnalyzeRequest, channelModes, speakerModes } from '../engine/index.ts';
import { type Receipt, type Signal, signals, type UnsignedReceipt } from '../engine/schema.ts';
import { parseConfig } from '../service/config.ts';
import {
  addKey,
  type PublicKey,
  parsePublicKeys,
  readPublicKeys,
  receiptKeysFile,
} from '../service/receipt-keys.ts';
import {
  type Answer,
  type Comparison,
  compareReceipts,
  findMismatch,
  readAnswer,
  softwareDifferences,
  tolerance,
} from '../service/verify-receipt.ts';
import { collect, readBaselines, readSettings } from './analysis-options.ts';
import { type CliContext, expected } from './context.ts';
import { readNamedFile } from './inputs.ts';
import { readSegments } from './parts.ts';

const examples = `
Checks the signature, the hashes and the report that comes with the receipt, analyses the recording again and compares.
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
    .argument('<receipt>', 'the receipt, or the response, job or callback with it')
    .argument('<recording>', 'the file that was sent')
    .requiredOption('--keys <file>', 'public keys of the service')
    .option('--report <file>', 'a response, job or callback in another file: is it the one of the receipt?')
    .option('--baseline <file>', 'a part `baseline` that was sent; several in the same order', collect, [])
    .option('--segments <file>', 'the part `segments`, if one was sent')
    .option(
      '--models <name>',
      'standard, large, fast, research or a folder (UNDERTONE_MODELS_DIR, or standard)',
    )
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

type RequestParts = Pick<AnalyzeRequest, 'baselines' | 'segments'> & { readonly recording: Uint8Array };

function toRequest({ options }: Receipt, { recording, ...parts }: RequestParts): AnalyzeRequest {
  const { channel, track = null, channels, speakers } = options;
  return {
    audio: recording,
    ...parts,
    signals: signals.filter((signal: Signal) => options.signals.includes(signal)),
    channel,
    track,
    channels: channelModes.find((mode) => mode === channels) ?? null,
    speakers: speakerModes.find((mode) => mode === speakers) ?? null,
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
  const { createAnalyzer } = await import('../node/models.ts');
  const { composeReport } = await import('../engine/index.ts');
  const { composeReceipt, describeSoftware } = await import('../service/compose-receipt.ts');
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
    return parsePublicKeys(bytes);
  } catch {
    throw expected('a file of public keys', '--keys', `another: ${path}`);
  }
}

const createExamples = `
The file is UNDERTONE_RECEIPT_KEYS, or ${receiptKeysFile} in the data folder. Restart the service, on every host that
shares the file, before the new key signs. Private parts of retired keys are removed; their public parts stay.

Examples:
  undertone keys create --signs-from 2027-01-01T00:00:00Z
  UNDERTONE_RECEIPT_KEYS=/etc/undertone/receipt-keys.json undertone keys create`;
const publicExamples = `
Examples:
  undertone keys public > keys.json`;

export function registerKeys(program: Command, terminal: CliContext): void {
  const keys = program.command('keys').description('make and publish keys of receipts');
  keys
    .command('create')
    .description('add a key that signs receipts')
    .option('--signs-from <time>', 'ISO 8601; until then the current key signs (now)')
    .addHelpText('after', createExamples)
    .action(async ({ signsFrom }: { readonly signsFrom?: string }) => {
      const start = signsFrom === undefined ? new Date() : new Date(signsFrom);
      if (Number.isNaN(start.getTime()))
        throw expected('a time such as 2027-01-01T00:00:00Z', '--signs-from', JSON.stringify(signsFrom));
      print(await addKey(pathOf(terminal), start), terminal);
    });
  keys
    .command('public')
    .description('print the public keys, as GET /.well-known/undertone-keys.json')
    .addHelpText('after', publicExamples)
    .action(async () => print(await readPublicKeys(pathOf(terminal)), terminal));
}

function pathOf({ env }: CliContext): string {
  const { dataDir, receiptKeys } = parseConfig(env);
  return receiptKeys ?? join(dataDir, receiptKeysFile);
}

function print(keys: readonly PublicKey[], { stdout }: CliContext): void {
  stdout.write(`${JSON.stringify({ keys }, null, 2)}\n`);
}
