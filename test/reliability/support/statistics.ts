/** The Theil-Sen estimator: the median of the slopes of all pairs. */
import { percentile } from '../../../src/tools/evaluate/statistics.ts';

export type Point = { readonly x: number; readonly y: number };

/** Null of fewer than two points. */
export function robustSlope(points: readonly Point[]): number | null {
  const slopes = points.flatMap((one, index) =>
    points.slice(index + 1).map((other) => (other.y - one.y) / (other.x - one.x)),
  );
  return percentile(slopes, 0.5);
}

/** The lowest point of each stretch: requests in progress add memory between them. */
export function lowest(points: readonly Point[], stretches: number): Point[] {
  const length = Math.ceil(points.length / stretches);
  return Array.from({ length: stretches }, (_, index) =>
    points.slice(index * length, (index + 1) * length),
  ).flatMap(([first, ...others]) =>
    first === undefined ? [] : [others.reduce((low, point) => (point.y < low.y ? point : low), first)],
  );
}
