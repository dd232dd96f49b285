/** correction.json in the folder of a head: what `undertone adapt` changes of the outputs of its weights. */
import { z } from 'zod';
import { meanEmbedding } from './arrays.ts';
import type { Session, Values } from './platform.ts';

const numbers = z.array(z.float32()).transform((values) => Float64Array.from(values));

/** output = scale * base + bias + embedding . weights */
const correction = z.strictObject({
  scale: z.float32(),
  /** One per output. */
  bias: numbers,
  /** [dimensions x outputs], row by row; null without weights. */
  weights: numbers.nullable(),
});
const labels = z.array(z.string()).min(2).readonly();

const headCorrection = z.strictObject({
  /** `known`: the labels of the weights; `labels`: those of the corrected probabilities. */
  labels: z.strictObject({ known: labels, labels, correction }).nullable(),
  /** By name of the output, which has shape [1] and is clipped to [0, 1]. */
  scores: z.record(z.string(), correction),
});

export type Correction = z.infer<typeof correction>;
export type HeadCorrection = z.infer<typeof headCorrection>;
export type LabelCorrection = Pick<NonNullable<HeadCorrection['labels']>, 'labels' | 'correction'>;
export type Probabilities = Readonly<Record<string, number>>;

/** Smaller probabilities count as this one, whose logarithm is finite. */
export const minProbability = 1e-4;

export function formatCorrection(correction: HeadCorrection): string {
  const toArray = (_: string, value: unknown) => (value instanceof Float64Array ? [...value] : value);
  return `${JSON.stringify(correction, toArray)}\n`;
}

/** Of the manifest: the labels, and the names of the scores that can be corrected. */
type Expected = { readonly labels: readonly string[] | null; readonly scores: readonly string[] };

/**
 * The head with corrected outputs.
 * @param json content of correction.json
 * @throws Error for other members, for numbers that are not finite as float32, and for other labels, scores or shapes
 */
export function correctHead(head: Session, json: unknown, expected: Expected): Session {
  const { data: correction, error } = headCorrection.safeParse(json);
  if (correction === undefined) throw new Error(z.prettifyError(error));
  checkCorrection(correction, head.widths, expected);
  return {
    ...head,
    async run(inputs) {
      const { tokens, weights } = inputs as Record<'tokens' | 'weights', Values>;
      return correctOutputs(correction, await head.run(inputs), meanEmbedding(tokens, weights));
    },
  };
}

function checkCorrection(
  { labels, scores }: HeadCorrection,
  { tokens, probabilities }: Session['widths'],
  expected: Expected,
): void {
  const check = (what: string, wanted: unknown, got: unknown) => {
    if (wanted !== got) throw new Error(`Expected ${wanted} for ${what}, got ${got}`);
  };
  const checkShape = (what: string, outputs: number, { bias, weights }: Correction) => {
    check(`the length of \`bias\` of ${what}`, outputs, bias.length);
    if (weights !== null)
      check(`the length of \`weights\` of ${what}`, outputs * Number(tokens), weights.length);
  };
  for (const [name, one] of Object.entries(scores)) {
    if (!expected.scores.includes(name))
      throw new Error(`Expected ${expected.scores.join(' or ')} for \`scores\`, got ${name}`);
    checkShape(`\`${name}\``, 1, one);
  }
  if (labels === null) return;
  check('the length of `known`', probabilities, labels.known.length);
  check('`labels`', JSON.stringify(expected.labels), JSON.stringify(labels.labels));
  checkShape('`labels`', labels.labels.length, labels.correction);
}

type Outputs = Awaited<ReturnType<Session['run']>>;

function correctOutputs(
  { labels, scores }: HeadCorrection,
  before: Outputs,
  embedding: Float32Array,
): Outputs {
  const after = { ...before };
  for (const [name, one] of Object.entries(scores)) {
    const { data, shape } = before[name] as Values;
    after[name] = { data: Float32Array.of(correctScore(one, data[0] as number, embedding)), shape };
  }
  if (labels !== null) {
    const { data } = before.probabilities as Values;
    const known = Object.fromEntries(labels.known.map((label, at) => [label, data[at] as number]));
    const found = correctLabels(labels, known, embedding);
    const values = Float32Array.from(labels.labels, (label) => found[label] as number);
    after.probabilities = { data: values, shape: [1, values.length] };
  }
  return after;
}

export type Inputs = {
  /** Outputs of the head as it is. */
  readonly base: Float64Array;
  /** [dimensions] */
  readonly embedding: Float32Array;
};

/** @returns the corrected outputs */
function correct({ scale, bias, weights }: Correction, { base, embedding }: Inputs): Float64Array {
  const outputs = base.map((value, output) => scale * value + (bias[output] as number));
  if (weights !== null) addProduct(outputs, embedding, weights);
  return outputs;
}

/** @returns the corrected score, clipped to [0, 1] */
export function correctScore(correction: Correction, score: number, embedding: Float32Array): number {
  const [value = 0] = correct(correction, { base: Float64Array.of(score), embedding });
  return Math.min(1, Math.max(0, value));
}

/** @returns the probability of each label of the correction */
export function correctLabels(
  { labels, correction }: LabelCorrection,
  before: Probabilities,
  embedding: Float32Array,
): Probabilities {
  const after = softmax(correct(correction, labelInputs(before, embedding, labels)));
  return Object.fromEntries(labels.map((label, at) => [label, after[at] ?? 0]));
}

/** Logarithms of the probabilities; 0 for labels that the weights do not have. */
export function labelInputs(
  probabilities: Probabilities,
  embedding: Float32Array,
  labels: readonly string[],
): Inputs {
  const base = labels.map((label) => {
    const probability = probabilities[label];
    return probability === undefined ? 0 : Math.log(Math.max(probability, minProbability));
  });
  return { base: Float64Array.from(base), embedding };
}

/** Adds x . weights, of weights [x.length x outputs] at the start of the array. */
export function addProduct(into: Float64Array, x: ArrayLike<number>, weights: Float64Array): void {
  const outputs = into.length;
  for (let index = 0; index < x.length; index++) {
    const value = x[index] as number;
    for (let output = 0; output < outputs; output++)
      into[output] = (into[output] as number) + value * (weights[index * outputs + output] as number);
  }
}

export function softmax(
  logits: Float64Array,
  into: Float64Array = new Float64Array(logits.length),
): Float64Array {
  const top = Math.max(...logits);
  let sum = 0;
  for (let index = 0; index < logits.length; index++) {
    const value = Math.exp((logits[index] as number) - top);
    into[index] = value;
    sum += value;
  }
  for (let index = 0; index < into.length; index++) into[index] = (into[index] as number) / sum;
  return into;
}
