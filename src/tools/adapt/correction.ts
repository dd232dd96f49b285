/** Fits corrections of a head's outputs: scaled, shifted, and with weights moved by the mean embedding of the recording. */
import { addProduct, type Correction, type Inputs, softmax } from '../../engine/index.ts';

/** Writes the gradient by the outputs of a row and returns its loss. */
type RowLoss = (outputs: Float64Array, row: number, gradient: Float64Array) => number;

/** L2 penalties beside the summed loss; those of weights are of standardised embeddings. */
const weightPenalty = 30;
const biasPenalty = 1;
const minSpread = 0.02;

/** What is fitted: the scale alone, biases too, or weights too. */
export type Freedom = 'scale' | 'bias' | 'weights';

export function fitCorrection(rows: readonly Inputs[], loss: RowLoss, freedom: Freedom): Correction {
  const outputs = rows[0]?.base.length ?? 0;
  const scaler = freedom === 'weights' ? standardise(rows) : { width: 0, centre: [], spread: [], values: [] };
  const { width } = scaler;
  // Weights first, then biases, then the scale.
  const count = (width + 1) * outputs + 1;
  const predicted = new Float64Array(outputs);
  const slope = new Float64Array(outputs);
  const start = new Float64Array(count);
  start[count - 1] = 1;
  const found = minimize((at, gradient) => {
    gradient.fill(0);
    let total = penalise(at, gradient, width * outputs);
    for (const [row, { base }] of rows.entries()) {
      const x = scaler.values[row];
      for (let output = 0; output < outputs; output++) {
        predicted[output] =
          (at[count - 1] as number) * (base[output] as number) + (at[width * outputs + output] as number);
      }
      if (x !== undefined) addProduct(predicted, x, at);
      total += loss(predicted, row, slope);
      for (let output = 0; output < outputs; output++) {
        const by = slope[output] as number;
        gradient[width * outputs + output] = (gradient[width * outputs + output] as number) + by;
        gradient[count - 1] = (gradient[count - 1] as number) + by * (base[output] as number);
      }
      if (x !== undefined) addOuter(gradient, x, slope);
    }
    if (freedom === 'scale') gradient.fill(0, 0, -1);
    return total;
  }, start);
  return unstandardise(found, scaler, outputs);
}

function addOuter(into: Float64Array, x: ArrayLike<number>, slope: Float64Array): void {
  const outputs = slope.length;
  for (let index = 0; index < x.length; index++) {
    const value = x[index] as number;
    for (let output = 0; output < outputs; output++) {
      const at = index * outputs + output;
      into[at] = (into[at] as number) + value * (slope[output] as number);
    }
  }
}

/** Adds the gradient of the penalties. @returns their value */
function penalise(at: Float64Array, gradient: Float64Array, weights: number): number {
  let total = 0;
  for (let index = 0; index < at.length; index++) {
    const penalty = index < weights ? weightPenalty : biasPenalty;
    const value = (at[index] as number) - (index === at.length - 1 ? 1 : 0);
    total += penalty * value ** 2;
    gradient[index] = 2 * penalty * value;
  }
  return total;
}

type Scaler = {
  readonly width: number;
  readonly centre: ArrayLike<number>;
  readonly spread: ArrayLike<number>;
  readonly values: readonly Float64Array[];
};

function standardise(rows: readonly Inputs[]): Scaler {
  const width = rows[0]?.embedding.length ?? 0;
  const centre = new Float64Array(width);
  const square = new Float64Array(width);
  for (const { embedding } of rows) {
    for (let index = 0; index < width; index++) {
      const value = embedding[index] as number;
      centre[index] = (centre[index] as number) + value / rows.length;
      square[index] = (square[index] as number) + value ** 2 / rows.length;
    }
  }
  const spread = square.map(
    (value, index) => Math.sqrt(Math.max(0, value - (centre[index] as number) ** 2)) + minSpread,
  );
  const values = rows.map(({ embedding }) =>
    Float64Array.from(
      embedding,
      (value, index) => (value - (centre[index] as number)) / (spread[index] as number),
    ),
  );
  return { width, centre, spread, values };
}

/** Moves centre and spread of the embeddings into weights and biases. */
function unstandardise(found: Float64Array, { width, centre, spread }: Scaler, outputs: number): Correction {
  const bias = found.slice(width * outputs, -1);
  const weights = found.slice(0, width * outputs);
  for (let index = 0; index < width; index++) {
    for (let output = 0; output < outputs; output++) {
      const at = index * outputs + output;
      weights[at] = (weights[at] as number) / (spread[index] as number);
      bias[output] = (bias[output] as number) - (weights[at] as number) * (centre[index] as number);
    }
  }
  return { scale: found.at(-1) as number, bias, weights: width === 0 ? null : weights };
}

/** Cross-entropy of the softmax of the outputs. @param labels index of the right output of each row */
export function crossEntropy(labels: readonly number[]): RowLoss {
  return (outputs, row, gradient) => {
    softmax(outputs, gradient);
    const label = labels[row] as number;
    const probability = gradient[label] as number;
    gradient[label] = probability - 1;
    return -Math.log(Math.max(probability, Number.MIN_VALUE));
  };
}

/** Half the squared error over `variance`. @param truths of each row */
export function squaredError(truths: readonly number[], variance: number): RowLoss {
  return ([predicted = 0], row, gradient) => {
    const error = predicted - (truths[row] as number);
    gradient[0] = error / variance;
    return error ** 2 / variance / 2;
  };
}

// Minimises a smooth function: L-BFGS with backtracking (Nocedal & Wright 2006, algorithms 7.5 and 3.1).

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

function dot(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < one.length; index++) sum += (one[index] as number) * (other[index] as number);
  return sum;
}

function difference(one: Float64Array, other: Float64Array): Float64Array {
  return one.map((value, index) => value - (other[index] as number));
}

function addScaled(into: Float64Array, values: Float64Array, scale: number): void {
  for (let index = 0; index < into.length; index++)
    into[index] = (into[index] as number) + scale * (values[index] as number);
}
