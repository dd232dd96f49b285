#!/usr/bin/env node
/** The `undertone` command. */
import { Command, CommanderError } from 'commander';
import { registerAdapt } from './cli/adapt.ts';
import { registerAnalyze } from './cli/analyze.ts';
import { registerAudit } from './cli/audit.ts';
import { registerBulk } from './cli/bulk.ts';
import { type CliContext, UsageError } from './cli/context.ts';
import { registerDoctor } from './cli/doctor.ts';
import { registerEmbed } from './cli/embed.ts';
import { registerEvaluate } from './cli/evaluate.ts';
import { registerFeatures } from './cli/features.ts';
import { registerKeys } from './cli/keys.ts';
import { registerListen } from './cli/listen.ts';
import { registerMcp } from './cli/mcp.ts';
import { registerOpenApi } from './cli/openapi.ts';
import { registerServe } from './cli/serve.ts';
import { registerToken } from './cli/token.ts';
import { registerUser } from './cli/user.ts';
import { registerVerify } from './cli/verify.ts';
import { registerWorker } from './cli/worker.ts';
import { ConfigError } from './runtime/config.ts';
import { describeServiceError, ServiceError } from './runtime/errors.ts';
import { version } from './runtime/version.ts';

const exitCodes = { failed: 1, misused: 2 } as const;

const exitCodeHelp = `
Exit codes:
  0  done
  1  something failed; standard error says what
  2  the command line or a setting is wrong`;

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

function buildProgram(): Command {
  const program = new Command('undertone')
    .description('Analyses how a person speaks: emotion and cognitive signals of a recording.')
    .version(version)
    .exitOverride()
    .addHelpText('afterAll', exitCodeHelp)
    .showHelpAfterError('(--help says more)');
  for (const register of [
    registerServe,
    registerWorker,
    registerAnalyze,
    registerBulk,
    registerListen,
    registerEmbed,
    registerFeatures,
    registerToken,
    registerUser,
    registerKeys,
    registerVerify,
    registerAudit,
    registerEvaluate,
    registerAdapt,
    registerDoctor,
    registerOpenApi,
    registerMcp,
  ])
    register(program, context);
  return program;
}

/** Formats usage and configuration errors as one line, and unexpected errors with their stack. */
function explain(error: unknown): string {
  if (isMisuse(error)) return error.message;
  if (error instanceof ServiceError) return describeServiceError(error);
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function isMisuse(error: unknown): error is UsageError | ConfigError {
  return error instanceof UsageError || error instanceof ConfigError;
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
