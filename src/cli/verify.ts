import type { Command } from 'commander';
import { type Signal, signals } from '../analysis/signals/table.ts';
import { type AnalyzeRequest, channelModes } from '../analysis/types.ts';
import { publicKeysSchema } from '../receipts/keys.ts';
import { type Receipt, receiptSchema, type UnsignedReceipt } from '../receipts/receipt.ts';
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
Checks the signature and the hashes, analyses the recording again and compares. Offline: the keys are those of
GET /.well-known/undertone-keys.json of the service, which \`undertone keys public\` prints too.

Exit codes:
  0  the report is identical, or every score is within ${tolerance}
  1  something differs; the output says what
  2  a file cannot be read

Examples:
  undertone verify answer.json recording.wav --report answer.json --keys keys.json`;

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
    .option('--report <file>', 'the response or job: is it the one of the receipt?')
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
  const receipt = toReceipt(await readJson('receipt', receiptPath));
  const { keys } = parse('--keys', publicKeysSchema, await readJson('--keys', options.keys));
  const recording = await readNamedFile('recording', recordingPath, maxBytes);
  const baselines = await readBaselines(options.baseline, maxBytes);
  const segments = options.segments === undefined ? null : await readSegments(options.segments, terminal);
  const report = options.report === undefined ? null : reportOf(await readJson('--report', options.report));
  const evidence = { recording, baselines, segments, report };
  const mismatch = findMismatch(receipt, evidence, keys);
  const say = (line: string) => void terminal.stdout.write(`${line}\n`);
  if (mismatch !== null) {
    say(`different: ${mismatch}`);
    return terminal.fail();
  }
  const again = await analyzeAgain(toRequest(receipt, evidence), options, terminal);
  const comparison = compareReceipts(receipt, again);
  say(describe(comparison));
  if (comparison.outcome === 'identical') return;
  for (const difference of softwareDifferences(receipt, again)) say(`  ${difference}`);
  if (comparison.outcome === 'different') terminal.fail();
}

function describe(comparison: Comparison): string {
  if (comparison.outcome === 'identical') return 'identical: the recording gives this report again';
  const { outcome, difference, field, stage } = comparison;
  if (stage === 'report') return `${outcome}: every score is equal, other fields of the report are not`;
  const size = Number.isFinite(difference) ? `by ${difference.toFixed(4)}` : 'in words';
  const from = stage === 'decode' ? 'decoding gives other samples' : 'decoding gives the same samples';
  return `${outcome}: ${field} differs most, ${size}; ${from}`;
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
  options: Options,
  terminal: CliContext,
): Promise<UnsignedReceipt> {
  const settings = await readSettings(options, terminal);
  const { createAnalyzer } = await import('../analysis/analyze.ts');
  const { composeReport } = await import('../analysis/compose-report.ts');
  const { composeReceipt } = await import('../receipts/compose-receipt.ts');
  const { describeSoftware } = await import('../receipts/software.ts');
  // As long as the recording of a job.
  const { maxSeconds } = parseConfig(terminal.env).jobs;
  const limits = { ...settings.limits, seconds: maxSeconds, deadlineSeconds: 0 };
  const analyzer = await createAnalyzer({ ...settings, limits });
  const analyses = await analyzer.analyze(request);
  const report = composeReport(request, analyses, '');
  return composeReceipt(request, { analyses, report }, describeSoftware(analyzer.models), {
    keyId: '',
    purpose: null,
  });
}

/** The result of a job, or the JSON itself. */
function reportOf(json: object): object {
  const { result } = json as { readonly result?: unknown };
  return typeof result === 'object' && result !== null ? result : json;
}

function toReceipt(json: object): Receipt {
  const report = reportOf(json);
  return parse('receipt', receiptSchema, 'receipt' in report ? report.receipt : report);
}

function parse<Value>(
  name: string,
  schema: { safeParse(value: unknown): { success: true; data: Value } | { success: false } },
  json: unknown,
): Value {
  const parsed = schema.safeParse(json);
  if (!parsed.success)
    throw expected(`a file of ${name === '--keys' ? 'public keys' : 'a receipt'}`, name, 'another');
  return parsed.data;
}

async function readJson(name: string, path: string): Promise<object> {
  const bytes = await readNamedFile(name, path);
  try {
    const json: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof json === 'object' && json !== null) return json;
  } catch {
    // Described below.
  }
  throw expected('an object of JSON', name, path);
}
