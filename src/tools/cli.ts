#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { readArguments } from '../node/file-names.ts';
import { version } from '../node/paths.ts';
import { ConfigError } from '../service/config.ts';
import { describeServiceError, ServiceError, toServiceError } from '../service/errors.ts';
import { type CliContext, escapeText, UsageError } from './context.ts';

const exitCodes = { failed: 1, misused: 2 } as const;

const exitCodeHelp = `
Exit codes:
  0  done
  1  something failed; standard error says what
  2  the command line or a setting is wrong`;

type Register = (program: Command, context: CliContext) => void;

/** In the order of the help. Only the code of the wanted command is loaded. */
const commands: Readonly<Record<string, () => Promise<Register>>> = {
  serve: async () => (await import('./serve.ts')).registerServe,
  worker: async () => (await import('./worker.ts')).registerWorker,
  analyze: async () => (await import('./analyze.ts')).registerAnalyze,
  bulk: async () => (await import('./bulk.ts')).registerBulk,
  listen: async () => (await import('./listen.ts')).registerListen,
  embed: async () => (await import('./features.ts')).registerEmbed,
  features: async () => (await import('./features.ts')).registerFeatures,
  token: async () => (await import('./accounts.ts')).registerToken,
  user: async () => (await import('./accounts.ts')).registerUser,
  keys: async () => (await import('./verify.ts')).registerKeys,
  verify: async () => (await import('./verify.ts')).registerVerify,
  evaluate: async () => (await import('./evaluate/evaluate.ts')).registerEvaluate,
  adapt: async () => (await import('./adapt/adapt.ts')).registerAdapt,
  models: async () => (await import('./models/models.ts')).registerModels,
  doctor: async () => (await import('./doctor.ts')).registerDoctor,
  mcp: async () => (await import('./mcp.ts')).registerMcp,
};

for (const stream of [process.stdout, process.stderr]) escapeText(stream);

let stdoutClosed = false;
const context: CliContext = {
  env: process.env,
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  stdoutClosed: () => stdoutClosed,
  fail: () => {
    process.exitCode = exitCodes.failed;
  },
  exit: (code) => process.exit(code),
};

/** @param wanted name of a command; all commands otherwise */
async function buildProgram(wanted = ''): Promise<Command> {
  const program = new Command('undertone')
    .description('Analyses how a person speaks: emotion and cognitive signals of a recording.')
    .version(version)
    .exitOverride()
    .addHelpText('afterAll', exitCodeHelp)
    .showHelpAfterError('(--help says more)');
  const names = Object.hasOwn(commands, wanted) ? [wanted] : Object.keys(commands);
  const registers = await Promise.all(names.map((name) => commands[name]?.()));
  for (const register of registers) register?.(program, context);
  return program;
}

/** Formats usage and configuration errors as one line, and unexpected errors with their stack. */
function explain(error: unknown): string {
  if (isMisuse(error)) return error.message;
  const known = toServiceError(error);
  if (known instanceof ServiceError) return describeServiceError(known);
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function isMisuse(error: unknown): error is UsageError | ConfigError {
  return error instanceof UsageError || error instanceof ConfigError;
}

async function main(): Promise<void> {
  try {
    const given = readArguments();
    await (await buildProgram(given[0])).parseAsync(given, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : exitCodes.misused;
      return;
    }
    process.stderr.write(`${explain(error)}\n`);
    process.exitCode = isMisuse(error) ? exitCodes.misused : exitCodes.failed;
  }
}

// A reader such as `head` may close the pipe early. Exiting at once would abort the process if a thread runs inference.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  stdoutClosed = true;
  process.exitCode = exitCodes.failed;
});

await main();
