#!/usr/bin/env node
/** The undertone command. */
import { Command, CommanderError } from 'commander';
import { registerAnalyze } from './cli/analyze.ts';
import { registerBulk } from './cli/bulk.ts';
import { type CliContext, UsageError } from './cli/context.ts';
import { registerFeatures } from './cli/features.ts';
import { registerOpenApi } from './cli/openapi.ts';
import { registerServe } from './cli/serve.ts';
import { registerToken } from './cli/token.ts';
import { registerUser } from './cli/user.ts';
import { registerWorker } from './cli/worker.ts';
import { ConfigError } from './runtime/config.ts';
import { ServiceError } from './runtime/errors.ts';
import { version } from './runtime/version.ts';

const exitCodes = { failed: 1, misused: 2 } as const;

const exitCodeHelp = `
Exit codes:
  0  done
  1  something failed; standard error says what
  2  the command line or a setting is wrong`;

let readerGone = false;
const terminal: CliContext = {
  env: process.env,
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  stdoutClosed: () => readerGone,
  fail: () => {
    process.exitCode = exitCodes.failed;
  },
  exit: (code) => process.exit(code),
};

function buildProgram(): Command {
  const program = new Command('undertone')
    .description('Hears how a person speaks: emotion and cognitive signals from a recording.')
    .version(version)
    .exitOverride()
    .addHelpText('afterAll', exitCodeHelp)
    .showHelpAfterError('(--help says more)');
  for (const add of [
    registerServe,
    registerWorker,
    registerAnalyze,
    registerBulk,
    registerFeatures,
    registerToken,
    registerUser,
    registerOpenApi,
  ])
    add(program, terminal);
  return program;
}

/** Faults of whoever typed the command are told in one line; others with where they came from. */
function explain(error: unknown): string {
  if (error instanceof ServiceError) return `${error.message}: ${reasonOf(error.cause)}`;
  const expected = error instanceof UsageError || error instanceof ConfigError;
  if (error instanceof Error) return expected ? error.message : (error.stack ?? error.message);
  return String(error);
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

async function main(): Promise<void> {
  try {
    await buildProgram().parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : exitCodes.misused;
      return;
    }
    process.stderr.write(`${explain(error)}\n`);
    const misused = error instanceof UsageError || error instanceof ConfigError;
    process.exitCode = misused ? exitCodes.misused : exitCodes.failed;
  }
}

// Whoever reads the output may stop before its end, as `head` does.
// Exiting at once would end a thread in the middle of inference, which aborts the process.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  readerGone = true;
  process.exitCode = exitCodes.failed;
});

await main();
