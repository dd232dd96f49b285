/** Short recordings by ffmpeg, and long ones made of them. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { cacheFolder, runProgram } from '../../../benchmarks/case.ts';

const seconds = 60;
const quiet = ['-nostdin', '-loglevel', 'error', '-y'];

/** A minute of silence, or of `source`. @returns the file's path */
export function encode(name: string, args: readonly string[], source = 'anullsrc=cl=mono'): string {
  const file = join(cacheFolder('bombs'), name);
  runProgram('ffmpeg', [...quiet, '-f', 'lavfi', '-t', String(seconds), '-i', source, ...args, file]);
  return file;
}

/** The same packets until the hours are full. */
export function loop(file: string, container: string, hours: number): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-bomb-'));
  const target = join(folder, `long.${container}`);
  try {
    const times = String((hours * 3600) / seconds - 1);
    runProgram('ffmpeg', [...quiet, '-stream_loop', times, '-i', file, '-c', 'copy', target]);
    return readFileSync(target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A second of a tone. */
export function tone(name: string, args: readonly string[]): Buffer {
  const options = ['-t', '1', '-ar', '16000', ...args];
  const file = encode(`tone${extname(name)}`, options, 'sine=frequency=220');
  return readFileSync(file);
}
