import type { Command } from 'commander';
import type { CliContext } from './context.ts';
import { printFirstToken } from './first-token.ts';

const examples = `
Settings come from the environment (UNDERTONE_PORT, UNDERTONE_TOKEN, ...).

Examples:
  undertone serve
  UNDERTONE_PORT=9000 undertone serve`;

export function registerServe(program: Command, terminal: CliContext): void {
  program
    .command('serve')
    .description('start the HTTP service')
    .option('--welcome', 'make and print a first token when there is none')
    .addHelpText('after', examples)
    .action(async (options: { readonly welcome?: true }) => {
      const { serve } = await import('../serve.ts');
      const greet = (service: Parameters<typeof printFirstToken>[0]) =>
        printFirstToken(service, terminal.stdout);
      await serve(terminal.env, options.welcome ? { welcome: greet } : {});
    });
}
