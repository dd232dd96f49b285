/** `undertone serve`, and what it prints when it is ready. */

import { join } from 'node:path';
import type { Command } from 'commander';
import type { TokenRecord, Tokens } from '../service/admin.ts';
import { type Config, isLoopback } from '../service/config.ts';
import type { Welcome } from '../service/serve.ts';
import type { CliContext } from './context.ts';

const examples = `
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
    .addHelpText('after', examples)
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
