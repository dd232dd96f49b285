/** The comparisons of an adaptation as rows of text. */
import type { Comparison } from './comparison.ts';

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

export function comparisonText(comparisons: readonly Comparison[]): string {
  const rows = [['', 'before', 'after', 'difference', 'improves'], ...comparisonRows(comparisons)];
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
