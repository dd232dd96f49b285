/** Minimises a smooth function: L-BFGS with backtracking (Nocedal & Wright 2006, algorithms 7.5 and 3.1). */
import { dot } from '../../engine/index.ts';

/** Writes the gradient at a point and returns the value there. */
type Objective = (at: Float64Array, gradient: Float64Array) => number;

const pairs = 10;
const sufficientDecrease = 1e-4;
const shrink = 0.5;
const minStep = 1e-10;
/** Relative decrease of a round below which the minimum is reached. */
const tolerance = 1e-7;

type Step = { readonly moved: Float64Array; readonly turned: Float64Array; readonly curvature: number };

/** @returns the point of least value after at most `rounds` rounds */
export function minimize(objective: Objective, start: Float64Array, rounds = 200): Float64Array {
  const history: Step[] = [];
  let at = start;
  let gradient = new Float64Array(start.length);
  let value = objective(at, gradient);
  for (let round = 0; round < rounds; round++) {
    const direction = descend(gradient, history);
    const slope = dot(direction, gradient);
    if (slope >= 0) return at;
    let step = round === 0 ? Math.min(1, 1 / Math.sqrt(-slope)) : 1;
    const next = { at: new Float64Array(at.length), gradient: new Float64Array(at.length), value: Infinity };
    for (; step > minStep; step *= shrink) {
      for (let index = 0; index < at.length; index++)
        next.at[index] = (at[index] as number) + step * (direction[index] as number);
      next.value = objective(next.at, next.gradient);
      if (next.value <= value + sufficientDecrease * step * slope) break;
    }
    if (next.value >= value) return at;
    const done = value - next.value <= tolerance * (Math.abs(value) + tolerance);
    remember(history, difference(next.at, at), difference(next.gradient, gradient));
    ({ at, gradient, value } = next);
    if (done) return at;
  }
  return at;
}

/** The two-loop recursion: the negative gradient times the approximate inverse of the Hessian. */
function descend(gradient: Float64Array, history: readonly Step[]): Float64Array {
  const direction = gradient.map((value) => -value);
  const shares = history.map(() => 0);
  for (let index = history.length - 1; index >= 0; index--) {
    const { moved, turned, curvature } = history[index] as Step;
    shares[index] = dot(moved, direction) / curvature;
    addScaled(direction, turned, -(shares[index] as number));
  }
  const last = history.at(-1);
  if (last !== undefined) {
    const scale = last.curvature / dot(last.turned, last.turned);
    for (let index = 0; index < direction.length; index++)
      direction[index] = scale * (direction[index] as number);
  }
  for (const [index, { moved, turned, curvature }] of history.entries()) {
    addScaled(direction, moved, (shares[index] as number) - dot(turned, direction) / curvature);
  }
  return direction;
}

function remember(history: Step[], moved: Float64Array, turned: Float64Array): void {
  const curvature = dot(moved, turned);
  if (curvature <= 0) return;
  history.push({ moved, turned, curvature });
  if (history.length > pairs) history.shift();
}

function difference(one: Float64Array, other: Float64Array): Float64Array {
  return one.map((value, index) => value - (other[index] as number));
}

function addScaled(into: Float64Array, values: Float64Array, scale: number): void {
  for (let index = 0; index < into.length; index++)
    into[index] = (into[index] as number) + scale * (values[index] as number);
}
