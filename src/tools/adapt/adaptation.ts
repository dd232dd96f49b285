/** Labelled examples -> what improves the models for speakers that it was not fitted on. */
import type { Comparison } from '../evaluate/comparison.ts';
import { type Dimension, dimensions } from '../evaluate/figures.ts';
import { countSpeakers, type Example, minRecordings, minSpeakers } from './examples.ts';
import { adaptDimension, canAdaptDimension, type DimensionResult, ratedOf } from './fit-dimensions.ts';
import { adaptLabels, canAdaptLabels, type LabelResult, labelledOf } from './fit-labels.ts';

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
  const learns = canAdaptLabels(labelled);
  const rated = dimensions
    .map((name) => [name, ratedOf(examples, name)] as const)
    .filter(([, rows]) => canAdaptDimension(rows));
  const parts = rated.length + Number(learns);
  const speakers = countSpeakers(examples);
  if (examples.length >= minRecordings && speakers < minSpeakers)
    throw new RangeError(`Expected recordings of ${minSpeakers} or more speakers, got ${speakers}`);
  if (parts === 0) {
    const counts = dimensions.map((name) => `${ratedOf(examples, name).length} with ${name}`).join(', ');
    throw new RangeError(
      `Expected ${minRecordings} or more recordings of ${minSpeakers} or more speakers with a label, or as many with valence, arousal or clarity, got ${labelled.length} with a label, ${counts}`,
    );
  }
  // One-sided tests, as many as there are parts.
  const level = 1 - (2 * maxFalse) / parts;
  const labels = learns ? adaptLabels(labelled, known, level) : null;
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
