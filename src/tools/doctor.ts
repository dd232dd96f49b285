/** `undertone doctor`: checks what the service needs, with the settings of the service. */
import type { Command } from 'commander';
import { version } from '../node/paths.ts';
import { type Config, ConfigError, parseConfig } from '../service/config.ts';
import { describeServiceError, ServiceError, toServiceError } from '../service/errors.ts';
import { type CliContext, expected } from './context.ts';

const doctorExamples = `
One line per check: ok, warning or failed. Exit code 1: a check failed. Settings are those of the service. As the service
does at its start, it creates the data folder and brings the database to this release. Models are checked against the
hashes in their manifests and the outputs in golden.json, and on the recordings of models/failures against failures.json.
--speed starts a service of its own with the same models and workers, and prints what one core handles: hours of audio, requests within
100 ms, live sessions, memory, and what bounds them. Nothing else should run meanwhile.

Examples:
  undertone doctor
  undertone doctor --speed
  UNDERTONE_DATA_DIR=/var/lib/undertone undertone doctor`;

export function registerDoctor(program: Command, terminal: CliContext): void {
  program
    .command('doctor')
    .description('check native code, models, example recordings, disk, database, Redis, clock and limits')
    .option('--speed [seconds]', `measure what this machine does instead, for about ${defaultSpeedSeconds} s`)
    .addHelpText('after', doctorExamples)
    .action(({ speed }: { readonly speed?: string | true }) =>
      speed === undefined ? runChecks(terminal) : runSpeed(speed, terminal),
    );
}

const defaultSpeedSeconds = 120;

async function runSpeed(speed: string | true, terminal: CliContext): Promise<void> {
  const seconds = speed === true ? defaultSpeedSeconds : Number(speed);
  if (!(seconds >= 1 && seconds <= 3600))
    throw expected('1 to 3600 seconds', '--speed', JSON.stringify(speed));
  if (process.platform !== 'linux') throw expected('Linux', '--speed', process.platform);
  const { workers } = parseConfig(terminal.env);
  const { measureSpeed } = await import('./speed.ts');
  await measureSpeed(seconds, workers, terminal);
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
