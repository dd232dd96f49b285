/** Ticks of time axes. */

/** Distances of ticks, s. */
export const tickSteps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800];

/** The smallest distance with at most `count` ticks. */
export function tickStep(duration: number, count: number): number {
  return tickSteps.find((step) => duration / step <= count) ?? 3600;
}
