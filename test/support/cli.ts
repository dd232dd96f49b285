/** The built command, in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

type Options = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Of standard input. */
  readonly input?: Uint8Array | string;
  /** Of the output; utf8 by default. */
  readonly encoding?: BufferEncoding;
};

const entry = resolve('dist/src/cli.js');

export const commandLine = (args: readonly string[]): string[] => [process.execPath, entry, ...args];

export function startCli(args: readonly string[], { cwd, env }: Options = {}): ChildProcess {
  const [command, ...rest] = commandLine(args) as [string, ...string[]];
  return spawn(command, rest, { env: { ...process.env, ...env }, ...(cwd === undefined ? {} : { cwd }) });
}

/** What a process has printed so far. */
export function outputOf(
  { stdout, stderr }: ChildProcess,
  encoding: BufferEncoding = 'utf8',
): { stdout(): string; stderr(): string } {
  let [out, error] = ['', ''];
  stdout?.setEncoding(encoding).on('data', (text: string) => {
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
  const { stdout, stderr } = outputOf(child, options?.encoding);
  const [code] = await once(child, 'close');
  return { code, stdout: stdout(), stderr: stderr() };
}

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** A process whose output a test reads while it runs. */
export type Running = {
  readonly process: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves when the output matches. @throws when the process ends before */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  logged(pattern: RegExp): Promise<RegExpExecArray>;
  readonly exit: Promise<Exit>;
  stop(signal?: NodeJS.Signals): Promise<Exit>;
};

/** Kills the process with the test. */
export function follow(t: { teardown(clean: () => unknown): void }, child: ChildProcess): Running {
  const output = outputOf(child);
  const exit = once(child, 'close').then(([code, signal]) => ({ code, signal }) as Exit);
  const ended = exit.then(() => true);
  const matching = (name: 'stdout' | 'stderr') => async (pattern: RegExp) => {
    for (let over = false; ; ) {
      const match = pattern.exec(output[name]());
      if (match !== null) return match;
      if (over) throw new Error(`Expected ${pattern} before the end, got: ${output.stderr()}`);
      over = await Promise.race([once(child[name] as Readable, 'data').then(() => false), ended]);
    }
  };
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return exit;
  };
  t.teardown(() => stop('SIGKILL'));
  return { process: child, ...output, printed: matching('stdout'), logged: matching('stderr'), exit, stop };
}
