/** The example in every container that ffmpeg makes, and the answers of the build from source. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from '../../scripts/prebuild/step.ts';

export const cache = join(root, '.cache/install');
const formats = ['mp3', 'm4a', 'opus', 'ogg', 'flac', 'webm', 'aiff', 'caf', 'mkv'];

/** Paths. */
export function recordings(): string[] {
  const folder = join(cache, 'recordings');
  mkdirSync(folder, { recursive: true });
  const paths = formats.map((format) => join(folder, `sample.${format}`));
  for (const path of paths.filter((path) => !existsSync(path)))
    run('ffmpeg', ['-v', 'error', '-i', 'examples/sample.wav', '-ar', '48000', path]);
  return [join(root, 'examples/sample.wav'), ...paths];
}

/** Options of `undertone analyze` whose output `parseReports` reads. */
export const analyzeOptions = ['analyze', '--jsonl', '--jobs', '1'];

/** Reports of JSON lines, without what differs between runs. */
export function parseReports(output: string): unknown[] {
  return output
    .trim()
    .split('\n')
    .map((line) => {
      const { path, file, id, request_id, timing, ...answer } = JSON.parse(line);
      return answer;
    });
}

export function sourceAnswers(): unknown[] {
  return parseReports(run('node', [join(root, 'dist/src/cli.js'), ...analyzeOptions, ...recordings()]));
}

/** Returns the largest difference of numbers; infinite when anything else differs. */
export function distance(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return Math.abs(left - right);
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return left === right ? 0 : Number.POSITIVE_INFINITY;
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  return Math.max(0, ...[...keys].map((key) => distance(Reflect.get(left, key), Reflect.get(right, key))));
}
