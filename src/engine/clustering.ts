/** Unit vectors -> clusters: spherical k-means, and the most likely sequence of clusters. */
import { dot } from './arrays.ts';
import { uniform } from './random.ts';

export type Vector = Float32Array;

/** Runs of k-means from other starts, of which the best counts. */
const runs = 12;
const maxSteps = 20;

type Clusters = {
  /** Means of length 1. */
  readonly centroids: readonly Vector[];
  /** The cluster of each vector. */
  readonly labels: readonly number[];
};

/**
 * Spherical k-means: each vector belongs to the centroid of the largest cosine. Starts are drawn as in k-means++ by a seed.
 * @param weights one per vector
 * @returns at most `count` clusters; none is empty
 */
export function kMeans(vectors: readonly Vector[], weights: readonly number[], count: number): Clusters {
  const random = uniform(1);
  let best = { centroids: [] as readonly Vector[], labels: [] as readonly number[] };
  let most = Number.NEGATIVE_INFINITY;
  for (let run = 0; run < runs; run++) {
    const found = converge(vectors, weights, drawStarts(vectors, weights, count, random));
    const total = vectors.reduce(
      (sum, vector, index) =>
        sum +
        (weights[index] as number) * dot(vector, found.centroids[found.labels[index] as number] as Vector),
      0,
    );
    if (total > most) [best, most] = [found, total];
  }
  return best;
}

function drawStarts(
  vectors: readonly Vector[],
  weights: readonly number[],
  count: number,
  random: () => number,
): Vector[] {
  const starts = [vectors[Math.floor(random() * vectors.length)] as Vector];
  const distances = vectors.map((vector) => 1 - dot(vector, starts[0] as Vector));
  while (starts.length < Math.min(count, vectors.length)) {
    const shares = distances.map((distance, index) => Math.max(0, distance) * (weights[index] as number));
    let left = random() * shares.reduce((sum, share) => sum + share, 0);
    const drawn = shares.findIndex((share) => {
      left -= share;
      return left < 0;
    });
    const next = vectors[drawn];
    if (next === undefined) break;
    starts.push(next);
    for (const [index, vector] of vectors.entries())
      distances[index] = Math.min(distances[index] as number, 1 - dot(vector, next));
  }
  return starts;
}

function converge(
  vectors: readonly Vector[],
  weights: readonly number[],
  starts: readonly Vector[],
): Clusters {
  let centroids = starts;
  let labels = vectors.map((vector) => nearest(vector, centroids));
  for (let step = 0; step < maxSteps; step++) {
    const numbered = withoutGaps(labels);
    centroids = centroidsOf(vectors, weights, numbered);
    const next = vectors.map((vector) => nearest(vector, centroids));
    const isStable = next.every((label, index) => label === numbered[index]);
    labels = next;
    if (isStable) break;
  }
  return { centroids, labels };
}

/** The same labels in their order, numbered from 0 without a gap. */
export function withoutGaps(labels: readonly number[]): number[] {
  const used = [...new Set(labels)].sort((one, other) => one - other);
  return labels.map((label) => used.indexOf(label));
}

/** Weighted means of length 1 of the vectors with each label, from 0 on without a gap. */
export function centroidsOf(
  vectors: readonly Vector[],
  weights: readonly number[],
  labels: readonly number[],
): Vector[] {
  const count = Math.max(-1, ...labels) + 1;
  const sums = Array.from({ length: count }, () => new Float32Array(vectors[0]?.length ?? 0));
  for (const [index, vector] of vectors.entries()) {
    const sum = sums[labels[index] as number] as Vector;
    const weight = weights[index] as number;
    for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] as number) + weight * (vector[at] as number);
  }
  return sums.map((sum) => {
    const length = Math.sqrt(dot(sum, sum)) || 1;
    return sum.map((value) => value / length);
  });
}

function nearest(vector: Vector, centroids: readonly Vector[]): number {
  let [label, most] = [0, Number.NEGATIVE_INFINITY];
  for (const [index, centroid] of centroids.entries()) {
    const cosine = dot(vector, centroid);
    if (cosine > most) [label, most] = [index, cosine];
  }
  return label;
}

/** How much nearer a vector is to one centroid than to every other, as a difference of cosines; infinite for one centroid. */
export function marginOf(vector: Vector, label: number, centroids: readonly Vector[]): number {
  const cosines = centroids.map((centroid) => dot(vector, centroid));
  return (cosines[label] as number) - Math.max(...cosines.filter((_, index) => index !== label));
}

/** The largest cosine between two centroids; -1 for fewer. */
export function largestSimilarity(centroids: readonly Vector[]): number {
  let most = -1;
  for (const [index, one] of centroids.entries())
    for (const other of centroids.slice(index + 1)) most = Math.max(most, dot(one, other));
  return most;
}

/**
 * The sequence of centroids with the largest sum of cosines less the cost of its changes (Viterbi).
 * @param vectors in order of time
 * @returns the centroid of each vector
 */
export function decodeSequence(
  vectors: readonly Vector[],
  centroids: readonly Vector[],
  changeCost: number,
): number[] {
  let scores = centroids.map(() => 0);
  const before: number[][] = [];
  for (const vector of vectors) {
    const top = scores.reduce((best, score, index) => (score > (scores[best] as number) ? index : best), 0);
    const jump = (scores[top] as number) - changeCost;
    before.push(scores.map((score, index) => (score >= jump ? index : top)));
    scores = scores.map((score, index) => Math.max(score, jump) + dot(vector, centroids[index] as Vector));
  }
  let last = scores.reduce((best, score, index) => (score > (scores[best] as number) ? index : best), 0);
  const sequence: number[] = [];
  for (const from of before.toReversed()) {
    sequence.push(last);
    last = from[last] as number;
  }
  return sequence.reverse();
}
