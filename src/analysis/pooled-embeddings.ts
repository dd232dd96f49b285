/** One embedding for a window, an utterance or a recording: the mean of its embeddings, weighted by speech. */
import type { EncodedWindow } from './encode.ts';

export type PooledEmbeddings = {
  /** Mean over the windows, weighted by their seconds of speech. */
  readonly recording: Float32Array;
  /** One per entry of the timeline; times in seconds. */
  readonly timeline: readonly {
    readonly start: number;
    readonly end: number;
    readonly embedding: Float32Array;
  }[];
};

/** Mean of the rows of `embeddings`, weighted by the speech probability. */
export function poolEmbeddings({ embeddings, weights }: EncodedWindow): Float32Array {
  const width = embeddings.shape.at(-1) as number;
  const rows = Array.from(weights.data, (_, row) => embeddings.data.subarray(row * width, (row + 1) * width));
  return weightedMean(rows, weights.data);
}

/** @param weights one per row; rows count equally when all are 0 */
export function weightedMean(rows: readonly Float32Array[], weights: ArrayLike<number>): Float32Array {
  const sum = new Float64Array(rows[0]?.length ?? 0);
  const total = Array.from(weights).reduce((all, weight) => all + weight, 0);
  for (const [index, row] of rows.entries()) {
    const share = total === 0 ? 1 / rows.length : (weights[index] as number) / total;
    for (let column = 0; column < sum.length; column++) {
      sum[column] = (sum[column] as number) + share * (row[column] as number);
    }
  }
  return Float32Array.from(sum);
}
