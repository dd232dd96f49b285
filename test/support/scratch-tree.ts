/** A copy of the working tree in a temporary folder, whose files a script may change, and runs of its tests. */
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from './folder.ts';

export type Run = {
  /** Null: a signal or the time limit ended it. */
  readonly status: number | null;
  readonly output: string;
  readonly ms: number;
};

export type ScratchTree = {
  readonly folder: string;
  /** Writes a file; a null text is that of the working tree. */
  write(file: string, text: string | null): void;
  /** The service, with source maps. @returns false when it does not build */
  build(): Promise<boolean>;
  /** Runs a command at low priority. */
  run(command: readonly string[], limitMs: number, env?: NodeJS.ProcessEnv): Promise<Run>;
  /** Runs test files up to the first failure. */
  test(files: readonly string[], limitMs: number, env?: NodeJS.ProcessEnv): Promise<Run>;
};

const buildLimitMs = 300_000;

export function makeScratchTree(): ScratchTree {
  const folder = makeFolder();
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard'];
  for (const file of execFileSync('git', listed, { encoding: 'utf8' }).trim().split('\n')) {
    if (!existsSync(file)) continue;
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    cpSync(file, join(folder, file));
  }
  for (const made of ['dist', 'clients/typescript']) cpSync(made, join(folder, made), { recursive: true });
  mkdirSync(join(folder, 'build'));
  // The tests are built anew in each tree.
  const built = readdirSync('build').filter((name) => name !== 'ava');
  const links = ['node_modules', ...built.map((name) => `build/${name}`)];
  for (const name of links.filter((link) => existsSync(link))) symlinkSync(resolve(name), join(folder, name));
  const run: ScratchTree['run'] = (command, limitMs, env = {}) => runLow(command, folder, limitMs, env);
  return {
    folder,
    write: (file, text) => writeFileSync(join(folder, file), text ?? readFileSync(file)),
    build: async () => {
      const { status } = await run(['node_modules/.bin/rolldown', '-c', '--sourcemap'], buildLimitMs);
      return status === 0;
    },
    run,
    test: (files, limitMs, env) =>
      run(['node_modules/.bin/ava', '--tap', '--fail-fast', ...files], limitMs, env),
  };
}

/** In a process group of its own, which ends with the time limit. */
function runLow(
  command: readonly string[],
  cwd: string,
  limitMs: number,
  env: NodeJS.ProcessEnv,
): Promise<Run> {
  const started = performance.now();
  const child = spawn('nice', ['-n', '15', ...command], {
    cwd,
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const end = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  const timer = setTimeout(end, limitMs);
  return new Promise((settle, reject) => {
    child.once('error', reject);
    child.once('close', (status) => {
      clearTimeout(timer);
      settle({ status, output, ms: Math.round(performance.now() - started) });
    });
  });
}
