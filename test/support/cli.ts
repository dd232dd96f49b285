/** The built command, in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

type Options = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Of standard input. */
  readonly input?: Uint8Array | string;
};

const entry = resolve('dist/src/cli.js');

export const commandLine = (args: readonly string[]): string[] => [process.execPath, entry, ...args];

export function startCli(args: readonly string[], { cwd, env }: Options = {}): ChildProcess {
  const [command, ...rest] = commandLine(args) as [string, ...string[]];
  return spawn(command, rest, { env: { ...process.env, ...env }, ...(cwd === undefined ? {} : { cwd }) });
}

export async function runCli(args: readonly string[], options?: Options): Promise<Ended> {
  const child = startCli(args, options);
  if (options?.input !== undefined) child.stdin?.end(options.input);
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}
