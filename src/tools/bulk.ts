/** `undertone bulk`: recordings to a service, with an output file from which an interrupted run resumes. */

import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import {
  ApiError,
  createClient,
  JobFailedError,
  RateLimitedError,
  UndertoneError,
  ValidationError,
} from '../../clients/typescript/src/index.ts';
import { signals, withoutRequestIds } from '../engine/schema.ts';
import { FileError, readRegularFile } from '../node/files.ts';
import type { AnalyzeResult } from './analyze-thread.ts';
import { openBulkFile } from './bulk-file.ts';
import { type CliContext, expected, UsageError } from './context.ts';
import { checkStandardInput, findInputs, readNamedFile, standardInput } from './inputs.ts';
import { parseParts, partKind } from './parts.ts';
import { readPassword } from './passwords.ts';
import { countFiles, showProgress } from './progress.ts';

const examples = `
The output file is also what has been done: run the same command again after an end of any kind, and it goes on. Each file
is answered in it once, with its reports or with why it cannot be taken. Lost connections, 500, 502, 503 and 504 are
tried again after 1, 2, 4 s and so on, or after what Retry-After says; 429 until the rate limit allows the file. Exit
code 1: some files have no answer yet.

The token, with both scopes, comes from UNDERTONE_TOKEN or --token-file; other users of this machine can read --token.

Examples:
  undertone bulk recordings --url https://voice.example --token-file token.txt --output signals.jsonl
  undertone bulk --list paths.txt --url http://127.0.0.1:8080 --output signals.csv --concurrency 16
  undertone bulk calls --channels split --url http://127.0.0.1:8080 --output calls.csv
  pass show undertone | undertone bulk recordings --url https://voice.example --token-file - --output signals.csv`;

/** More than a service accepts by default. */
const maxRecordingBytes = 2 ** 29;

type Options = TokenOptions & {
  readonly url: string;
  readonly output: string;
  readonly track?: string;
  readonly channels?: string;
  readonly speakers?: string;
  readonly concurrency: string;
  readonly retries: string;
};

export function registerBulk(program: Command, terminal: CliContext): void {
  program
    .command('bulk')
    .description('send thousands of recordings to a service')
    .argument('[path...]', 'files and folders')
    .option('--list <file>', 'more of them, one a line; - is standard input')
    .requiredOption('--url <address>', 'where the service is')
    .option('--token-file <file>', 'its first line is the token; - is standard input (UNDERTONE_TOKEN)')
    .option('--token <token>', 'the token itself, which other users of this machine can read')
    .requiredOption('--output <file>', 'what to write: .jsonl as analyze does, or .csv')
    .option('--track <n>', 'audio track to analyse, counted from 0 (the default one of each file)')
    .option('--channels <mode>', 'split: each of two channels alone, and their conversation')
    .option('--speakers <count>', 'voices on one channel, each alone: 2 to 6, or auto')
    .option('--concurrency <n>', 'files at a time', '4')
    .option('--retries <n>', 'attempts after the first', '7')
    .addHelpText('after', examples)
    .action((paths: string[], options: Options) => bulk(paths, options, terminal));
}

async function bulk(paths: readonly string[], options: Options, terminal: CliContext): Promise<void> {
  const started = performance.now();
  const client = await openClient(options, terminal);
  const concurrency = integer(options.concurrency, 1, 256, '--concurrency');
  const parts = await parseParts({ ...options, baseline: [] }, signals, terminal);
  const inputs = await findInputs(paths, options.list, terminal, null);
  const file = await openBulkFile(options.output, partKind(parts));
  const output = resolve(options.output);
  const names = new Set(inputs.map(({ path }) => path).filter((path) => resolve(path) !== output));
  const pending = [...names].filter((path) => !file.answered.has(path));
  const totals = { before: names.size - pending.length, done: 0, refused: 0, open: 0 };
  const progress = showProgress(pending.length, terminal);
  // All loops share one iterator.
  const queue = pending.values();
  const sendNext = async () => {
    for (const path of queue) {
      const result = await analyzeFile(client, path, parts);
      if ('unanswered' in result) {
        totals.open++;
        progress.note(result.unanswered, path);
      } else {
        totals.done++;
        totals.refused += 'error' in result ? 1 : 0;
        await file.add(path, result);
      }
      await progress.step();
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, sendNext));
  } finally {
    await file.close();
    progress.end(summarise(totals, performance.now() - started));
  }
  if (totals.open > 0) terminal.fail();
}

async function openClient(options: Options, terminal: CliContext) {
  const { url, retries } = options;
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw expected('http://HOST', '--url', JSON.stringify(url));
  const token = await readToken(options, terminal);
  return createClient({ url, token, retries: integer(retries, 0, 20, '--retries') });
}

function integer(text: string, low: number, high: number, name: string): number {
  const number = Number(text);
  if (/^\d{1,6}$/.test(text) && number >= low && number <= high) return number;
  throw expected(`an integer from ${low} to ${high}`, name, JSON.stringify(text));
}

type Parts = Awaited<ReturnType<typeof parseParts>>;

type Client = ReturnType<typeof createClient>;
type FileAnswer = AnalyzeResult | { readonly unanswered: string };

/** Waits while a rate limit refuses the file. @throws UsageError when the service refuses the token or an option, which fails every file */
async function analyzeFile(client: Client, path: string, parts: Parts): Promise<FileAnswer> {
  for (;;) {
    const answer = await attemptFile(client, path, parts);
    if (!('waitSeconds' in answer)) return answer;
    await sleep(1000 * answer.waitSeconds);
  }
}

async function attemptFile(
  client: Client,
  path: string,
  { channel, track, speakers }: Parts,
): Promise<FileAnswer | { readonly waitSeconds: number }> {
  try {
    const audio = await readRegularFile(path, { maxBytes: maxRecordingBytes });
    const options = track === null ? {} : { track };
    if (channel === 'split')
      return { report: withoutRequestIds(await client.analyzeChannels(audio, options)) };
    if (speakers !== null)
      return { report: withoutRequestIds(await client.analyzeSpeakers(audio, { ...options, speakers })) };
    const { status: _, ...report } = withoutRequestIds(await client.analyze(audio, options));
    return { report };
  } catch (error) {
    if (error instanceof RateLimitedError) return { waitSeconds: error.retryAfterSeconds ?? 1 };
    // A long recording is analysed as a job.
    const isRefused = error instanceof ValidationError || error instanceof JobFailedError;
    const item = isRefused ? error.items[0] : undefined;
    if (item !== undefined && !item.type.startsWith('value_error.audio.')) throw new UsageError(item.msg);
    if (item !== undefined) return { error: { ...item, loc: ['body', item.loc[1] ?? 'audio'] }, cause: null };
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
      throw new UsageError(`${error.message} (${error.status})`);
    }
    if (error instanceof FileError) return { unanswered: `Expected a readable file, got ${error.got}` };
    if (error instanceof UndertoneError) return { unanswered: error.message };
    throw error;
  }
}

function summarise(
  { before, done, refused, open }: { before: number; done: number; refused: number; open: number },
  ms: number,
): string {
  const earlier = before === 0 ? '' : `, ${before} before`;
  return `${countFiles(done)} answered in ${(ms / 1000).toFixed(1)} s${earlier}, ${refused} of them refused, ${open} without an answer`;
}

// The token of `undertone bulk`: from the environment, a file or standard input, hidden from other users.

type TokenOptions = {
  readonly token?: string;
  /** `-` is standard input. */
  readonly tokenFile?: string;
  /** List of recordings; `-` is standard input. */
  readonly list?: string;
};

/** Other characters are invalid in a header, and the error of fetch would contain the token. */
const validToken = /^[\x21-\x7e]+$/;

/** @throws UsageError unless exactly one source has a token */
async function readToken(options: TokenOptions, terminal: CliContext): Promise<string> {
  const { token, tokenFile, list = '' } = options;
  if (token !== undefined && tokenFile !== undefined)
    throw expected('one of both', '--token', '--token-file too');
  const [source, text] =
    tokenFile === undefined
      ? ['UNDERTONE_TOKEN or --token-file', token ?? terminal.env.UNDERTONE_TOKEN ?? '']
      : ['--token-file', await readLine(tokenFile, list, terminal)];
  const trimmed = text.trim();
  if (validToken.test(trimmed)) return trimmed;
  throw expected('a token', source, trimmed === '' ? 'none' : 'other characters');
}

async function readLine(file: string, list: string, terminal: CliContext): Promise<string> {
  checkStandardInput([file, list]);
  if (file === standardInput) return readPassword(terminal, 'token: ');
  const text = (await readNamedFile('--token-file', file)).toString();
  return text.split(/\r?\n/)[0] ?? '';
}
