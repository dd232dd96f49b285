/** `undertone mcp`; the server is loaded when it runs. */
import { realpath, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { collect, readSettings } from './analysis-options.ts';
import { type CliContext, expected } from './context.ts';

const examples = `
The client starts the command and speaks MCP with it over standard input and output. Files are read on this machine and
nothing is sent anywhere. With --root, which may be repeated, files outside these folders are refused. Settings of a client:
  {"mcpServers": {"undertone": {"command": "/path/to/node_modules/.bin/undertone", "args": ["mcp", "--root", "/recordings"]}}}`;

type Options = { readonly models?: string; readonly root: readonly string[] };

export function registerMcp(program: Command, terminal: CliContext): void {
  program
    .command('mcp')
    .description('serve analyze and explain to language models (Model Context Protocol)')
    .option(
      '--models <name>',
      'standard, large, fast, research or a folder (UNDERTONE_MODELS_DIR, or standard)',
    )
    .option(
      '--root <folder>',
      'read files in this folder alone, links followed; may be repeated',
      collect,
      [],
    )
    .addHelpText('after', examples)
    .action(async (options: Options) => {
      const { runMcpServer } = await import('./mcp-server.ts');
      const settings = await readSettings(options, terminal);
      await runMcpServer({ ...settings, roots: await resolveRoots(options.root) }, terminal);
    });
}

/** Returns their real paths, or null without any. @throws UsageError */
async function resolveRoots(folders: readonly string[]): Promise<string[] | null> {
  if (folders.length === 0) return null;
  const resolve = async (folder: string) => {
    const isFolder = await stat(folder).then(
      (entry) => entry.isDirectory(),
      () => false,
    );
    if (!isFolder) throw expected('a folder', '--root', JSON.stringify(folder));
    return realpath(folder);
  };
  return Promise.all(folders.map(resolve));
}
