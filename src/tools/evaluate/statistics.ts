/**
 * Scores of predictions with bootstrap intervals over speakers. Each score is a function of sums over recordings, so that a
 * draw of speakers is a weighted sum.
 */

/** `rows`: the summands of each recording. `value`: a score of their sums; NaN where it is undefined. */
export type Score<Pair> = {
  readonly rows: (pairs: readonly Pair[]) => readonly (readonly number[])[];
  readonly value: (sums: ArrayLike<number>) => number;
};

export type Numbers = { readonly truth: number; readonly predicted: number };
export type Answer = { readonly correct: boolean; readonly confidence: number };
export type Labels = { readonly truth: string; readonly predicted: string };

export type Estimate = {
  readonly value: number;
  /** Of the level, 95 % by default; null where no draw has a score. */
  readonly interval: readonly [low: number, high: number] | null;
};

const rounds = 1000;
const bins = 10;

/** Mean recall of the labels that occur (unweighted average recall). */
export const uar: Score<Labels> = {
  rows: (pairs) => {
    const labels = [...new Set(pairs.map(({ truth }) => truth))].sort();
    return pairs.map(({ truth, predicted }) => [
      ...labels.map((label) => Number(label === truth)),
      ...labels.map((label) => Number(label === truth && truth === predicted)),
    ]);
  },
  value: (sums) => {
    const count = sums.length / 2;
    const recalls = Array.from({ length: count }, (_, at) => (sums[count + at] ?? 0) / (sums[at] ?? 0));
    return meanOf(recalls.filter((recall) => !Number.isNaN(recall)));
  },
};

const moments = (pairs: readonly Numbers[]) =>
  pairs.map(({ truth: x, predicted: y }) => [1, x, y, x * x, y * y, x * y]);

function centralMoments(sums: ArrayLike<number>) {
  const [n, x, y, xx, yy, xy] = Array.from(sums) as [number, number, number, number, number, number];
  const [mx, my] = [x / n, y / n];
  return { mx, my, vx: xx / n - mx * mx, vy: yy / n - my * my, cov: xy / n - mx * my };
}

/** Concordance correlation coefficient, Lin 1989. */
export const ccc: Score<Numbers> = {
  rows: moments,
  value: (sums) => {
    const { mx, my, vx, vy, cov } = centralMoments(sums);
    return (2 * cov) / (vx + vy + (mx - my) ** 2);
  },
};

/** Pearson's correlation coefficient. */
export const pcc: Score<Numbers> = {
  rows: moments,
  value: (sums) => {
    const { vx, vy, cov } = centralMoments(sums);
    return cov / Math.sqrt(vx * vy);
  },
};

export const mean: Score<number> = {
  rows: (values) => values.map((value) => [1, value]),
  value: (sums) => (sums[1] ?? 0) / (sums[0] ?? 0),
};

/** The tenth of the confidence, 0 to 9. */
export const binOf = (confidence: number) => Math.min(Math.floor(confidence * bins), bins - 1);

/** Mean distance of confidence and accuracy over tenths of the confidence, weighted by their recordings. */
export const calibrationError: Score<Answer> = {
  rows: (answers) =>
    answers.map(({ correct, confidence }) => {
      const row = new Array<number>(3 * bins).fill(0);
      const bin = binOf(confidence);
      row[bin] = 1;
      row[bins + bin] = confidence;
      row[2 * bins + bin] = Number(correct);
      return row;
    }),
  value: (sums) => {
    const all = Array.from(sums);
    const [counts, confidence, correct] = [0, 1, 2].map((part) => all.slice(part * bins, (part + 1) * bins));
    const distance =
      confidence?.reduce((sum, value, bin) => sum + Math.abs(value - (correct?.[bin] ?? 0)), 0) ?? 0;
    return distance / (counts?.reduce((sum, count) => sum + count, 0) ?? 0);
  },
};

/** Of two predictions of each recording: the score of the second less that of the first. */
export function gain<Pair>(score: Score<Pair>): Score<readonly [before: Pair, after: Pair]> {
  return {
    rows: (pairs) => {
      const before = score.rows(pairs.map(([one]) => one));
      const after = score.rows(pairs.map(([, other]) => other));
      return before.map((row, index) => [...row, ...(after[index] ?? [])]);
    },
    value: (sums) => {
      const [before, after] = [0, 1].map((part) =>
        Array.from(sums).slice((part * sums.length) / 2, ((part + 1) * sums.length) / 2),
      );
      return score.value(after ?? []) - score.value(before ?? []);
    },
  };
}

/** Draws speakers with replacement; recordings where there is one speaker. The same speakers give the same draws. */
export function estimate<Pair>(
  score: Score<Pair>,
  pairs: readonly Pair[],
  speakers: readonly string[],
  level = 0.95,
): Estimate {
  const rows = score.rows(pairs);
  const names = new Map([...new Set(speakers)].sort().map((name, at) => [name, at]));
  const [count, owners] =
    names.size === 1
      ? [rows.length, rows.map((_, at) => at)]
      : [names.size, speakers.map((name) => names.get(name) ?? 0)];
  const width = rows[0]?.length ?? 0;
  const sums = Array.from({ length: count }, () => new Float64Array(width));
  for (const [at, row] of rows.entries()) add(sums[owners[at] ?? 0] as Float64Array, row);
  const random = createRandom(1);
  const draws: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const total = new Float64Array(width);
    for (let draw = 0; draw < sums.length; draw++)
      add(total, sums[Math.floor(random() * sums.length)] as Float64Array);
    const value = score.value(total);
    if (Number.isFinite(value)) draws.push(value);
  }
  const all = new Float64Array(width);
  for (const row of sums) add(all, row);
  return { value: score.value(all), interval: middle(draws, level) };
}

function add(into: Float64Array, row: ArrayLike<number>): void {
  for (let at = 0; at < into.length; at++) into[at] = (into[at] ?? 0) + (row[at] ?? 0);
}

function middle(draws: number[], level: number): Estimate['interval'] {
  if (draws.length === 0) return null;
  draws.sort((one, other) => one - other);
  const at = (share: number) => draws[Math.round(share * (draws.length - 1))] as number;
  return [at((1 - level) / 2), at((1 + level) / 2)];
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Mulberry32, for repeatable draws. @returns numbers in [0, 1) */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Null of nothing. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? null;
}
