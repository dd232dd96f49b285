import type { Command } from 'commander';
import type { CliContext } from './context.ts';

const examples = `
The client starts the command and speaks MCP with it over standard input and output. Files are read on this machine and
nothing is sent anywhere. Settings of a client:
  {"mcpServers": {"undertone": {"command": "/path/to/node_modules/.bin/undertone", "args": ["mcp"]}}}`;

type Options = { readonly models?: string };

export function registerMcp(program: Command, terminal: CliContext): void {
  program
    .command('mcp')
    .description('serve analyze and explain to language models (Model Context Protocol)')
    .option('--models <name>', 'standard, fast or a folder (UNDERTONE_MODELS_DIR, or standard)')
    .addHelpText('after', examples)
    .action(async (options: Options) => {
      const { readSettings } = await import('./analyze.ts');
      const { runMcpServer } = await import('./mcp-server.ts');
      await runMcpServer(await readSettings(options, terminal), terminal);
    });
}
