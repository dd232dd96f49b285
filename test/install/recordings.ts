/** The example in every container that ffmpeg makes, and the answers of the build from source. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from '../../scripts/prebuild/step.ts';
import { tolerance } from '../../src/service/verify-receipt.ts';

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

type Signal = Readonly<Record<string, unknown>>;
export type Report = { readonly emotion: Signal; readonly cognitive: Signal } & Signal;

/** Options of `undertone analyze` whose output `parseReports` reads. */
export const analyzeOptions = ['analyze', '--jsonl', '--jobs', '1'];

/** Reports of JSON lines, without what differs between runs. */
export function parseReports(output: string): Report[] {
  return output
    .trim()
    .split('\n')
    .map((line) => {
      const { path, file, id, request_id, timing, ...answer } = JSON.parse(line);
      return answer;
    });
}

export function sourceAnswers(): Report[] {
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

/** Largest differences of the scores of recordings, of the entries of timelines, and of everything else. */
export type Differences = {
  readonly recording: number;
  readonly utterance: number;
  readonly other: number;
};

/**
 * What rounding changes between processors: sums have another order, and quantized layers round up what another sum rounds down.
 * `npm run reliability processors` measures it on one processor: a gain of 1 + k / 2^20 changes no score in exact arithmetic.
 */
export const roundingLimits: Differences = { recording: tolerance, utterance: 0.02, other: 0.001 };

/** @param reports of the same recordings, in the same order */
export function compareReports(left: readonly Report[], right: readonly Report[]): Differences {
  if (left.length !== right.length) throw new Error(`Expected ${left.length} reports, got ${right.length}`);
  const [one, other] = [left.map(splitReport), right.map(splitReport)];
  const largest = (part: keyof Differences) =>
    distance(
      one.map((report) => report[part]),
      other.map((report) => report[part]),
    );
  return { recording: largest('recording'), utterance: largest('utterance'), other: largest('other') };
}

function splitReport({ emotion, cognitive, ...shared }: Report): Record<keyof Differences, unknown> {
  const { signals: ofEmotion, timeline, ...emotionRest } = emotion;
  const { signals: ofCognitive, ...cognitiveRest } = cognitive;
  return {
    recording: [ofEmotion, ofCognitive],
    // `relative` follows from scores, and is in spreads too.
    utterance: (timeline as Readonly<Record<string, unknown>>[]).map(({ relative: _, ...scores }) => scores),
    other: [shared, emotionRest, cognitiveRest],
  };
}

/** Names of the limits that the differences exceed. */
export function exceeded(differences: Differences, limits: Differences): (keyof Differences)[] {
  return (['recording', 'utterance', 'other'] as const).filter(
    (part) => !(differences[part] <= limits[part]),
  );
}
