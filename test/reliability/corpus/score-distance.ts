/** Distance between the scores of two reports. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { root } from '../../../benchmarks/case.ts';
import type { SignalReport } from '../../../src/analysis/report.ts';
import type { Family, Transformation } from './transformations.ts';

export type Line = {
  readonly path: string;
  readonly error?: { readonly msg: string };
  readonly emotion?: Pick<SignalReport<'emotion'>, 'signals' | 'status'>;
  readonly cognitive?: Pick<SignalReport<'cognitive'>, 'signals' | 'status'>;
};

/** Score -> value; null when there was too little speech or no report at all. */
export type Scores = Readonly<Record<string, number>> | null;

export type Distance = {
  readonly transformation: Transformation;
  readonly plain: string;
  /** The score that moved most, and by how much; infinite when only one of the two has scores. */
  readonly score: string;
  readonly by: number;
  /** Of the probabilities of the emotions. */
  readonly emotionBy: number;
};

export function scoresOf({ emotion, cognitive }: Line): Scores {
  if (emotion === undefined || cognitive === undefined) return null;
  if (!('valence' in emotion.signals) || !('clarity' in cognitive.signals)) return null;
  const { valence, arousal, emotions } = emotion.signals;
  const { cognitive_load, clarity, processing } = cognitive.signals;
  return { valence, arousal, cognitive_load, clarity, processing, ...prefixed(emotions) };
}

const prefix = 'emotions.';

function prefixed(emotions: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(emotions).map(([label, share]) => [`${prefix}${label}`, share]));
}

/** Distance of each copy from its reference, for recordings with scores. */
export function distancesOf(families: readonly Family[], scores: ReadonlyMap<string, Scores>): Distance[] {
  return families.flatMap((family) =>
    family.copies.flatMap(({ transformation, file }) => {
      const before = scores.get(family[transformation.from]) ?? null;
      if (before === null) return [];
      return [{ transformation, plain: family.plain, ...apart(before, scores.get(file) ?? null) }];
    }),
  );
}

function apart(before: NonNullable<Scores>, after: Scores): Pick<Distance, 'score' | 'by' | 'emotionBy'> {
  if (after === null)
    return { score: 'no scores', by: Number.POSITIVE_INFINITY, emotionBy: Number.POSITIVE_INFINITY };
  let [score, by, emotionBy] = ['', 0, 0];
  for (const [name, value] of Object.entries(before)) {
    const moved = Math.abs(value - (after[name] ?? Number.POSITIVE_INFINITY));
    if (name.startsWith(prefix)) emotionBy = Math.max(emotionBy, moved);
    else if (moved > by) [score, by] = [name, moved];
  }
  return { score, by, emotionBy };
}

/** Scores by path, from the built command; calls `step` for each file. */
export async function analyzeFiles(paths: readonly string[], step: () => void): Promise<Map<string, Scores>> {
  const child = spawn(
    process.execPath,
    [join(root, 'dist/src/cli.js'), 'analyze', '--jsonl', '--list', '-'],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH }, // the command refuses settings that it does not know, as UNDERTONE_DATA
    },
  );
  child.stdin.end(paths.join('\n'));
  const found = new Map<string, Scores>();
  let text = '';
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said = `${said}${chunk}`.slice(-500);
  });
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = `${text}${chunk}`.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const parsed = JSON.parse(line) as Line;
      found.set(parsed.path, scoresOf(parsed));
      step();
    }
  });
  await once(child, 'close');
  if (found.size !== paths.length)
    throw new Error(`Expected ${paths.length} reports, got ${found.size}: ${said}`);
  return found;
}
