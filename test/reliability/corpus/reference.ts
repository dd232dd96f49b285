/** Seconds that ffmpeg decodes of a file; null when it prints a warning. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../../benchmarks/case.ts';

const execute = promisify(execFile);
const rate = 8000;
const bytesASample = 2;

/** Cached by name: files of the corpus have unique names and do not change. */
export async function referenceSeconds(file: string): Promise<number | null> {
  const note = join(cacheFolder('reliability/reference'), `${basename(file)}.json`);
  if (!existsSync(note)) writeFileSync(note, JSON.stringify(await decode(file)));
  return JSON.parse(readFileSync(note, 'utf8')) as number | null;
}

async function decode(file: string): Promise<number | null> {
  const output = ['-map', '0:a:0', '-f', 's16le', '-ac', '1', '-ar', `${rate}`, '-'];
  try {
    const options = { encoding: 'buffer', maxBuffer: 1 << 28 } as const;
    const { stdout, stderr } = await execute(
      'ffmpeg',
      ['-nostdin', '-v', 'error', '-i', file, ...output],
      options,
    );
    const clean = stderr.length === 0 && stdout.length > 0;
    return clean ? stdout.length / bytesASample / rate : null;
  } catch {
    return null;
  }
}
