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

/** What a process has printed so far. */
export function outputOf({ stdout, stderr }: ChildProcess): { stdout(): string; stderr(): string } {
  let [out, error] = ['', ''];
  stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    error += text;
  });
  return { stdout: () => out, stderr: () => error };
}

export async function runCli(args: readonly string[], options?: Options): Promise<Ended> {
  const child = startCli(args, options);
  // It may have ended before it read all of it.
  if (options?.input !== undefined) child.stdin?.on('error', () => {}).end(options.input);
  const { stdout, stderr } = outputOf(child);
  const [code] = await once(child, 'close');
  return { code, stdout: stdout(), stderr: stderr() };
}
