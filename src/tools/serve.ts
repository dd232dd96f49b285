/** The commands of the service: `serve`, with what it prints when it is ready, `worker` and `doctor`. */

import { join } from 'node:path';
import type { Command } from 'commander';
import { version } from '../node/paths.ts';
import type { TokenRecord, Tokens } from '../service/admin.ts';
import { type Config, ConfigError, parseConfig } from '../service/config.ts';
import { describeServiceError, ServiceError, toServiceError } from '../service/errors.ts';
import { isLoopback } from '../service/network.ts';
import type { Welcome } from '../service/serve.ts';
import { type CliContext, expected } from './context.ts';

const serveExamples = `
Settings come from the environment (UNDERTONE_PORT, UNDERTONE_TOKEN, ...); --host and --port take precedence.

Examples:
  undertone serve
  undertone serve --port 9000
  UNDERTONE_PORT=9000 undertone serve`;

type Options = { readonly welcome?: true; readonly host?: string; readonly port?: string };

export function registerServe(program: Command, terminal: CliContext): void {
  program
    .command('serve')
    .description('start the HTTP service')
    .option('--host <host>', 'listen address (UNDERTONE_HOST, or 127.0.0.1)')
    .option('--port <port>', 'listen port, 0 for a free one (UNDERTONE_PORT, or 8080)')
    .option(
      '--welcome',
      'print a first token when there is none, and a link that opens the playground signed in',
    )
    .addHelpText('after', serveExamples)
    .action(async (options: Options) => {
      const { serve } = await import('../service/serve.ts');
      const welcome: Welcome = async (service) => {
        await printFirstToken(service, terminal.stdout);
        await printPlaygroundLink(service, terminal.stdout);
      };
      const env = { ...terminal.env, ...settingsOf(options) };
      await serve(env, options.welcome ? { welcome } : {});
    });
}

function settingsOf({ host, port }: Options): Record<string, string> {
  return {
    ...(host === undefined ? {} : { UNDERTONE_HOST: host }),
    ...(port === undefined ? {} : { UNDERTONE_PORT: port }),
  };
}

// The token that `npm start` prints below the listening line.

type StartedService = {
  readonly url: string;
  readonly config: {
    readonly token: string | null;
    readonly dataDir: string;
    readonly databaseUrl: string;
  };
  readonly tokens: Tokens;
};

const firstName = 'first';

/** Creates and prints the first token if none exists, else prints how to create one. */
export async function printFirstToken(
  { url, config, tokens }: StartedService,
  stdout: { write(text: string): void },
): Promise<void> {
  const { scopes } = await import('../service/admin.ts');
  const create = () => createFirstToken(tokens, scopes);
  const first = config.token === null && !(await tokens.hasAny()) ? await create() : null;
  stdout.write(first === null ? describeAnother(config, scopes) : describeFirstToken(url, first.token));
}

/** Returns null if another process created one meanwhile. */
async function createFirstToken(
  tokens: Tokens,
  scopes: readonly string[],
): Promise<{ token: string; record: TokenRecord } | null> {
  try {
    return await tokens.create({ name: firstName, scopes, expiresAt: null, purpose: null });
  } catch (error) {
    if (await tokens.hasAny()) return null;
    throw error;
  }
}

function describeFirstToken(url: string, token: string): string {
  return `your first token, shown this once: ${token}
curl -H "Authorization: Bearer ${token}" -F audio=@examples/sample.wav ${url}/v1/analyze
`;
}

/** The command with the data of this service. The URL of a database may contain a password, and is not printed. */
function describeAnother(
  { dataDir, databaseUrl }: StartedService['config'],
  scopes: readonly string[],
): string {
  const command = `npx undertone token create --name NAME --scopes ${scopes.join(',')}`;
  const isInDataDir = databaseUrl === `file:${join(dataDir, 'undertone.db')}`;
  if (!isInDataDir) return `another token: ${command} (with the UNDERTONE_DATABASE_URL of this service)\n`;
  return `another token: UNDERTONE_DATA_DIR='${dataDir.replaceAll("'", "'\\''")}' ${command}\n`;
}

// The link that `npm start` prints: it opens the playground signed in.

type LinkedService = {
  readonly url: string;
  readonly config: Pick<Config, 'host' | 'publicUrl' | 'trustedProxies'>;
  readonly playgroundCodes: Pick<Parameters<Welcome>[0]['playgroundCodes'], 'create'>;
};

/** Prints nothing for a service that other machines reach, directly or through a proxy. */
export async function printPlaygroundLink(
  { url, config, playgroundCodes }: LinkedService,
  stdout: { write(text: string): void },
): Promise<void> {
  const { host, publicUrl, trustedProxies } = config;
  if (!isLoopback(host) || publicUrl !== null || trustedProxies > 0) return;
  const code = await playgroundCodes.create();
  stdout.write(`playground, signed in (once, within 10 minutes): ${url}/#code=${code}\n`);
}

// `undertone worker`.

const workerExamples = `
Settings come from the environment, and are those of the service: UNDERTONE_REDIS_URL, UNDERTONE_DATABASE_URL,
UNDERTONE_SECRET and UNDERTONE_RECEIPT_KEYS (or the same UNDERTONE_DATA_DIR), UNDERTONE_WORKERS, UNDERTONE_JOB_... Any number of hosts may work.
SIGTERM waits UNDERTONE_SHUTDOWN_S for what is being analysed; then, or at a second signal, it goes back into the queue.

Examples:
  UNDERTONE_REDIS_URL=redis://127.0.0.1 undertone worker`;

export function registerWorker(program: Command, terminal: CliContext): void {
  program
    .command('worker')
    .alias('work')
    .description('take jobs from the queue and analyse them')
    .addHelpText('after', workerExamples)
    .action(() => runWorker(terminal));
}

async function runWorker(terminal: CliContext): Promise<void> {
  const config = parseConfig(terminal.env);
  const { redisUrl } = config;
  if (redisUrl === null) throw expected('redis://HOST', 'UNDERTONE_REDIS_URL', 'nothing');
  const { startWorker } = await import('../service/worker.ts');
  try {
    await startWorker({ ...config, redisUrl }, terminal);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { describeStartFailure } = await import('../service/start-failures.ts');
    terminal.stderr.write(`${describeStartFailure(error, config)}\n`);
    return terminal.fail();
  }
  terminal.stdout.write(`working with ${config.workers} threads\n`);
}

// `undertone doctor`: checks what the service needs, with the settings of the service.

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
