/** Welch's t of the response times of two classes of guesses. */
import { performance } from 'node:perf_hooks';

export type Guess = (token: string) => Promise<unknown>;

/** Strings of equal length, as many of the one as of the other, so that nothing but their letters differs. */
export type Classes = { readonly near: readonly string[]; readonly far: readonly string[] };

/** The slowest tenth is dropped: preemption, not the comparison. */
const kept = 0.9;
/** Code is compiled anew while it runs, the last time after some ten thousand calls. */
const warmUpsPerTiming = 3;
const maxWarmUps = 60_000;

/** @param random from 0 to 1 */
export async function timeClasses(guess: Guess, classes: Classes, perClass: number, random: () => number) {
  const kinds = [classes.near, classes.far].map((strings) => ({
    strings,
    times: new Float64Array(perClass),
  }));
  const warmUps = Math.min(maxWarmUps, warmUpsPerTiming * perClass);
  for (let index = -warmUps; index < perClass; index++) {
    // Random order removes effects of one call on the next; one call site removes differences of
    // compiled code.
    const order = random() < 0.5 ? kinds : kinds.toReversed();
    for (const { strings, times } of order) {
      // A new string each time, as in a request: otherwise the memory location of a class shows.
      const text = Buffer.from(strings.at(index % strings.length) as string).toString('latin1');
      const started = performance.now();
      await guess(text);
      const ms = performance.now() - started;
      if (index >= 0) times[index] = ms;
    }
  }
  const [near, far] = kinds.map(({ times }) => times) as [Float64Array, Float64Array];
  return Math.abs(welch(...crop(near, far)));
}

function crop(one: Float64Array, other: Float64Array): [Float64Array, Float64Array] {
  const all = Float64Array.from([...one, ...other]).sort();
  const limit = all[Math.floor(kept * all.length)] ?? Number.POSITIVE_INFINITY;
  return [one.filter((ms) => ms <= limit), other.filter((ms) => ms <= limit)];
}

/** Welch (1947): the difference of the means over its standard error. */
export function welch(one: Float64Array, other: Float64Array): number {
  const [a, b] = [moments(one), moments(other)];
  return (a.mean - b.mean) / Math.sqrt(a.variance / one.length + b.variance / other.length);
}

function moments(values: Float64Array): { readonly mean: number; readonly variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, variance: squares / (values.length - 1) };
}

/** A comparison that stops at the first difference. */
export function earlyExitCheck(token: string): Guess {
  return async (guess) => {
    for (let index = 0; index < token.length; index++) if (guess[index] !== token[index]) return false;
    return true;
  };
}
