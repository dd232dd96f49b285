/** Files made once by ffmpeg, sox or espeak-ng, and kept. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { inParallel } from '../parallel.ts';
import { startProgress } from '../progress.ts';

const execute = promisify(execFile);

/** Debian packages of the programs that make files. */
export const tools = ['ffmpeg', 'sox', 'libsox-fmt-base', 'espeak-ng'];

/** `arguments` get the place of the new file last. */
export type Recipe = {
  readonly file: string;
  readonly program: string;
  readonly arguments: readonly string[];
};

export const ffmpeg = (file: string, ...options: readonly string[]): Recipe => ({
  file,
  program: 'ffmpeg',
  arguments: ['-nostdin', '-v', 'error', '-y', ...options],
});

/** Runs a program; the end of what it says is part of its failure. */
export async function runQuietly(program: string, options: readonly string[]): Promise<Buffer> {
  try {
    const { stdout } = await execute(program, options, { encoding: 'buffer', maxBuffer: 1 << 28 });
    return stdout;
  } catch (cause) {
    const { stderr } = cause as { stderr?: Buffer };
    const said = stderr?.toString().trim().split('\n').slice(-3).join(' ') ?? String(cause);
    throw new Error(`${program} ${options.join(' ')}: ${said}`);
  }
}

/** Under another name until it is whole, so that an interrupted run leaves nothing half made. */
async function make({ file, program, arguments: options }: Recipe): Promise<void> {
  const part = join(dirname(file), `part-${process.pid}-${basename(file)}`);
  mkdirSync(dirname(file), { recursive: true });
  await runQuietly(program, [...options, part]);
  renameSync(part, file);
}

/** Makes those that are absent. */
export async function makeAll(what: string, recipes: readonly Recipe[]): Promise<void> {
  const absent = recipes.filter(({ file }) => !existsSync(file));
  if (absent.length === 0) return;
  const progress = startProgress(`making ${what}`, absent.length);
  await inParallel(absent, availableParallelism(), async (recipe) => {
    await make(recipe);
    progress.advance();
  });
  progress.stop();
}
