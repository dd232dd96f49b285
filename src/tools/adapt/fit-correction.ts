/** Fits corrections of a head's outputs: scaled, shifted, and with weights moved by the mean embedding of the recording. */
import { addProduct, type Correction, type Inputs, softmax } from '../../engine/index.ts';
import { minimize } from './minimize.ts';

/** Writes the gradient by the outputs of a row and returns its loss. */
type RowLoss = (outputs: Float64Array, row: number, gradient: Float64Array) => number;

/** L2 penalties, added to the summed loss; those of weights are of standardised embeddings. */
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
