/** Speakers -> folds of about equally many recordings. The same speakers give the same folds. */

const maxFolds = 5;

/**
 * @param speakers of each recording
 * @returns the fold of each recording; recordings of a speaker share one
 */
export function foldsOf(speakers: readonly string[]): number[] {
  const counts = new Map<string, number>();
  for (const speaker of speakers) counts.set(speaker, (counts.get(speaker) ?? 0) + 1);
  const ordered = [...counts].sort(
    ([one, count], [other, others]) => others - count || (one < other ? -1 : 1),
  );
  const sizes = new Array<number>(Math.min(maxFolds, ordered.length)).fill(0);
  const folds = new Map<string, number>();
  for (const [speaker, count] of ordered) {
    const smallest = sizes.indexOf(Math.min(...sizes));
    sizes[smallest] = (sizes[smallest] ?? 0) + count;
    folds.set(speaker, smallest);
  }
  return speakers.map((speaker) => folds.get(speaker) as number);
}

/**
 * Predictions for each row by what was fitted on the other folds.
 * @param learn from these rows
 */
export function leaveOut<Row, Fitted, Prediction>(
  rows: readonly Row[],
  folds: readonly number[],
  learn: (rows: readonly Row[]) => Fitted,
  predict: (fitted: Fitted, row: Row) => Prediction,
): Prediction[] {
  const fitted = new Map<number, Fitted>();
  for (const fold of new Set(folds))
    fitted.set(fold, learn(rows.filter((_, index) => folds[index] !== fold)));
  return rows.map((row, index) => predict(fitted.get(folds[index] as number) as Fitted, row));
}
