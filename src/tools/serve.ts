/** `undertone serve`. */

import type { Command } from 'commander';
import type { Welcome } from '../service/serve.ts';
import type { CliContext } from './context.ts';
import { welcomeLink, welcomeToken } from './welcome.ts';

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
      const welcome: Welcome = async (service) =>
        (await welcomeToken(service)) + (await welcomeLink(service));
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
