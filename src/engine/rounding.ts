/** Rounding of the fields of a report: scores to 4 decimals, parts with a constant sum. */

import { indexOfMax } from './arrays.ts';
import type { Interval } from './signals/intervals.ts';

const scale = 10_000;

export function round(value: number): number {
  return roundTo(value, scale);
}

/** @param steps steps per unit: 10 for one decimal */
export function roundTo(value: number, steps: number): number {
  return Math.round(value * steps) / steps + 0;
}

/** Rounds outwards: the printed interval contains the exact one. */
export function roundInterval([lower, upper]: Interval): [number, number] {
  return [Math.floor(lower * scale) / scale, Math.ceil(upper * scale) / scale];
}

/** The rounded parts sum to the rounded total: the remainder is added to the largest part. */
export function roundParts(parts: readonly number[], total: number): number[] {
  const rounded = parts.map((part) => Math.round(part * scale));
  const largest = indexOfMax(rounded.map(Math.abs));
  const sum = rounded.reduce((all, part) => all + part, 0);
  if (rounded.length > 0) {
    rounded[largest] = (rounded[largest] as number) + Math.round(total * scale) - sum;
  }
  return rounded.map((part) => part / scale);
}
