/** `undertone doctor`: checks what the service needs, with the settings of the service. */
import type { Command } from 'commander';
import { version } from '../node/paths.ts';
import { type Config, ConfigError, parseConfig } from '../service/config.ts';
import { describeServiceError, ServiceError, toServiceError } from '../service/errors.ts';
import type { CliContext } from './context.ts';

const examples = `
One line per check: ok, warning or failed. Exit code 1: a check failed. Settings are those of the service. As the service
does at its start, it creates the data folder and brings the database to this release. Models are checked against the
hashes in their manifests and the outputs in golden.json, and on the recordings of models/failures against failures.json.

Examples:
  undertone doctor
  UNDERTONE_DATA_DIR=/var/lib/undertone undertone doctor`;

export function registerDoctor(program: Command, terminal: CliContext): void {
  program
    .command('doctor')
    .description('check native code, models, example recordings, disk, database, Redis, clock and limits')
    .addHelpText('after', examples)
    .action(() => runChecks(terminal));
}

async function runChecks({ env, stdout, fail }: CliContext): Promise<void> {
  const print = (state: string, name: string, text: string) =>
    stdout.write(`${state.padEnd(7)}  ${name.padEnd(10)}  ${text}\n`);
  let config: Config;
  try {
    config = parseConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const problem of error.problems) print('failed', 'settings', problem);
    fail();
    return;
  }
  print('ok', 'settings', `undertone ${version}, http://${config.host}:${config.port}`);
  const { checks } = await import('../service/checks.ts');
  for (const [name, check] of Object.entries(checks)) {
    try {
      const { state, text } = await check(config);
      print(state, name, text);
    } catch (error) {
      print('failed', name, describe(error));
      fail();
    }
  }
}

function describe(error: unknown): string {
  const known = toServiceError(error);
  if (known instanceof ServiceError) return describeServiceError(known);
  return error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error);
}
