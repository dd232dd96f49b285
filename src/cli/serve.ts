import type { Command } from 'commander';
import type { Welcome } from '../serve.ts';
import type { CliContext } from './context.ts';
import { printFirstToken } from './first-token.ts';
import { printPlaygroundLink } from './playground-link.ts';

const examples = `
Settings come from the environment (UNDERTONE_PORT, UNDERTONE_TOKEN, ...).

Examples:
  undertone serve
  UNDERTONE_PORT=9000 undertone serve`;

export function registerServe(program: Command, terminal: CliContext): void {
  program
    .command('serve')
    .description('start the HTTP service')
    .option(
      '--welcome',
      'print a first token when there is none, and a link that opens the playground signed in',
    )
    .addHelpText('after', examples)
    .action(async (options: { readonly welcome?: true }) => {
      const { serve } = await import('../serve.ts');
      const welcome: Welcome = async (service) => {
        await printFirstToken(service, terminal.stdout);
        await printPlaygroundLink(service, terminal.stdout);
      };
      await serve(terminal.env, options.welcome ? { welcome } : {});
    });
}
