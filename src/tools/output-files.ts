/** The files of `undertone analyze --out`: annotations of each recording. */

import { existsSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { ensureDir, writeParts } from '../node/files.ts';
import { expected } from './context.ts';
import type { Input } from './inputs.ts';
import type { OutputFormat, OutputName } from './output.ts';

/**
 * The file of each recording's annotations, below the folder as the recording is below that of the inputs; null: standard
 * output. No file is overwritten.
 * @throws UsageError
 */
export function placeFiles(
  inputs: readonly Input[],
  style: OutputName,
  { extension }: Pick<OutputFormat, 'extension'>,
  folder: string | undefined,
): readonly string[] | null {
  if (folder === '') throw expected('a folder', '--out', 'an empty text');
  if (extension === undefined) {
    if (folder !== undefined) throw expected('textgrid or audacity', '--output', `${style} with --out`);
    return null;
  }
  if (folder === undefined) {
    if (inputs.length > 1) throw expected('a folder', '--out', `nothing for ${inputs.length} files`);
    return null;
  }
  const files = inputs.map(({ name }) =>
    resolve(folder, dirname(name), basename(name, extname(name)) + extension),
  );
  const seen = new Set<string>();
  for (const [index, file] of files.entries()) {
    if (inputs[index]?.optional) continue;
    // Some file systems ignore case.
    if (seen.has(file.toLowerCase()))
      throw expected('recordings of different names', '--out', `two for ${file}`);
    seen.add(file.toLowerCase());
    if (existsSync(file))
      throw expected('a folder without the files to write', '--out', `${file}, which exists`);
  }
  try {
    ensureDir(resolve(folder), 0o777);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw expected('a folder in which files can be created', '--out', `${folder} (${code})`);
  }
  return files;
}

/** @returns why the file was not written; null when it was */
export async function writeNew(file: string, text: string): Promise<string | null> {
  try {
    await writeParts(file, [Buffer.from(text)], 'wx');
    return null;
  } catch (error) {
    return `not written: ${(error as Error).message}`;
  }
}
