/** Numbers in arrays: joined, weighted, ranked. */
import type { Values } from './platform.ts';

/** Concatenates; an array whose others are empty is returned without a copy. */
export function joinArrays(arrays: readonly Float32Array[]): Float32Array {
  const [first, ...others] = arrays.filter(({ length }) => length > 0);
  if (first !== undefined && others.length === 0) return first;
  const joined = new Float32Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const array of arrays) {
    joined.set(array, at);
    at += array.length;
  }
  return joined;
}

/** @param weights one per row; rows count equally when all are 0 */
export function weightedMean(rows: readonly ArrayLike<number>[], weights: ArrayLike<number>): Float64Array {
  const sum = new Float64Array(rows[0]?.length ?? 0);
  const total = Array.from(weights).reduce((all, weight) => all + weight, 0);
  for (const [index, row] of rows.entries()) {
    const share = total === 0 ? 1 / rows.length : (weights[index] as number) / total;
    for (let column = 0; column < sum.length; column++) {
      sum[column] = (sum[column] as number) + share * (row[column] as number);
    }
  }
  return sum;
}

/**
 * Mean of the embeddings, weighted by the speech probability.
 * @param embeddings [1 x embeddings x dimensions]
 * @param weights [1 x embeddings]
 * @returns [dimensions]
 */
export function meanEmbedding(embeddings: Values, weights: Values): Float32Array {
  const width = embeddings.shape.at(-1) as number;
  const rows = Array.from(weights.data, (_, row) => embeddings.data.subarray(row * width, (row + 1) * width));
  return Float32Array.from(weightedMean(rows, weights.data));
}

type Vector = Float32Array | Float64Array;

export function dot(one: Vector, other: Vector): number {
  let total = 0;
  for (let index = 0; index < one.length; index++) {
    total += (one[index] as number) * (other[index] as number);
  }
  return total;
}

export function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

export function indexOfMax(values: readonly number[]): number {
  return values.reduce((top, value, index) => (value > (values[top] as number) ? index : top), 0);
}

/** Linear interpolation, the default of numpy.quantile. @param sorted ascending */
export function quantile(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] as number;
  const above = sorted[Math.ceil(place)] as number;
  return below + (place - Math.floor(place)) * (above - below);
}

export function medianOf(values: readonly number[]): number {
  return quantile(Float64Array.from(values).sort(), 0.5);
}
