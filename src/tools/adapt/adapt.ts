/** Labelled examples -> what improves the models for speakers that it was not fitted on. */
import { type Comparison, type Example, minRecordings, minSpeakers, speakerOf } from './comparison.ts';
import {
  adaptDimension,
  adaptLabels,
  canAdaptDimension,
  canAdaptLabels,
  type Dimension,
  type DimensionResult,
  dimensions,
  type LabelResult,
  labelledOf,
  ratedOf,
} from './fit.ts';

export type Adaptation = {
  readonly labels: LabelResult | null;
  readonly dimensions: Partial<Readonly<Record<Dimension, DimensionResult>>>;
  readonly comparisons: readonly Comparison[];
  readonly speakers: number;
  readonly recordings: number;
};

/** Share of adaptations to meaningless labels that may be accepted. */
const maxFalse = 0.05;

/**
 * @param known labels of the models
 * @throws RangeError for too few recordings or speakers
 */
export function adapt(examples: readonly Example[], known: readonly string[]): Adaptation {
  const labelled = labelledOf(examples);
  const rated = dimensions
    .map((name) => [name, ratedOf(examples, name)] as const)
    .filter(([, rows]) => canAdaptDimension(rows));
  const parts = rated.length + Number(canAdaptLabels(labelled));
  const speakers = new Set(examples.map(speakerOf)).size;
  if (parts === 0)
    throw new RangeError(
      `Expected ${minRecordings} or more recordings with a label, valence, arousal or clarity, got ${examples.length}`,
    );
  if (speakers < minSpeakers)
    throw new RangeError(`Expected recordings of ${minSpeakers} or more speakers, got ${speakers}`);
  // One-sided tests, as many as there are parts.
  const level = 1 - (2 * maxFalse) / parts;
  const labels = canAdaptLabels(labelled) ? adaptLabels(labelled, known, level) : null;
  const results = rated.map(([name, rows]) => [name, adaptDimension(name, rows, level)] as const);
  return {
    labels,
    dimensions: Object.fromEntries(results),
    comparisons: [...(labels?.comparisons ?? []), ...results.flatMap(([, { comparisons }]) => comparisons)],
    speakers,
    recordings: examples.length,
  };
}

export function isImprovement({ labels, dimensions: found }: Adaptation): boolean {
  return labels?.adaptation != null || Object.values(found).some(({ adaptation }) => adaptation !== null);
}

// The comparisons of an adaptation as rows of text.

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
