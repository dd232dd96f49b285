/** Figures of two models on the same recordings, and whether the second is better on other speakers. */

import { expandedLevel } from './expanded-level.ts';
import { type Estimate, estimate, gain, type Score } from './statistics.ts';

export type Comparison = {
  readonly figure: string;
  /** Of the first and of the second, such as models as they are and adapted; 95 % intervals. */
  readonly before: Estimate;
  readonly after: Estimate;
  /** Of the difference: paired bootstrap over speakers, expanded for few of them. */
  readonly interval: Estimate['interval'];
  /** Whether the interval lies on the better side of 0; null for figures that do not decide. */
  readonly improves: boolean | null;
};

export type Pair<Value> = readonly [before: Value, after: Value];
/** Which way a figure improves; null: it does not decide. */
type Better = 'higher' | 'lower' | null;

type Sample<Value> = {
  /** Two predictions of each recording. */
  readonly pairs: readonly Pair<Value>[];
  readonly speakers: readonly string[];
};

/** @param level of the interval of the difference */
export function compare<Value>(
  figure: string,
  score: Score<Value>,
  { pairs, speakers }: Sample<Value>,
  { better, level }: { readonly better: Better; readonly level: number },
): Comparison {
  const scoreOf = (part: 0 | 1) =>
    estimate(
      score,
      pairs.map((pair) => pair[part]),
      speakers,
    );
  const { interval } = estimate(gain(score), pairs, speakers, wider(level, speakers));
  const ends = { higher: interval !== null && interval[0] > 0, lower: interval !== null && interval[1] < 0 };
  const improves = better === null ? null : ends[better];
  return { figure, before: scoreOf(0), after: scoreOf(1), interval, improves };
}

/** Lower end of the interval of the second score. */
export function lowerEnd<Value>(
  score: Score<Value>,
  { pairs, speakers }: Sample<Value>,
  level: number,
): number {
  const after = pairs.map((pair) => pair[1]);
  return estimate(score, after, speakers, wider(level, speakers)).interval?.[0] ?? Number.NEGATIVE_INFINITY;
}

function wider(level: number, speakers: readonly string[]): number {
  return expandedLevel(level, new Set(speakers).size);
}

/** Figure, before, after, interval of the difference, whether it improves. */
export function comparisonRows(comparisons: readonly Comparison[]): string[][] {
  return comparisons.map(({ figure, before, after, interval, improves }) => [
    figure,
    before.value.toFixed(3),
    after.value.toFixed(3),
    interval === null ? '' : interval.map((end) => (end > 0 ? '+' : '') + end.toFixed(3)).join(' to '),
    improves === null ? '' : improves ? 'yes' : 'no',
  ]);
}

/** @param names of the first, the second, and the last column */
export function comparisonText(
  comparisons: readonly Comparison[],
  [before, after, improves] = ['before', 'after', 'improves'],
): string {
  const rows = [['', before, after, 'difference', improves], ...comparisonRows(comparisons)];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
