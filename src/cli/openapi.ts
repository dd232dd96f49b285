import type { Command } from 'commander';
import { type CliContext, writeLine } from './context.ts';

const examples = `
Examples:
  undertone openapi > openapi.json
  undertone openapi | npx openapi-typescript --output undertone.d.ts`;

export function registerOpenApi(program: Command, { stdout }: CliContext): void {
  program
    .command('openapi')
    .description('print the OpenAPI 3.1 document of the service')
    .addHelpText('after', examples)
    .action(async () => {
      const { openApiDocument } = await import('../openapi/document.ts');
      const { version } = await import('../runtime/paths.ts');
      await writeLine(stdout, JSON.stringify(openApiDocument(version), null, 2));
    });
}
