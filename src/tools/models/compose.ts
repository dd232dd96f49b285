/** Graphs of a set: the source with its front end, and heads over what it adds to each embedding. */
import { embeddingName, samplesName } from '../../engine/index.ts';
import { fields } from '../../node/onnx-operators.ts';
import { bytesField, type Parts, readFields } from '../../node/protobuf.ts';
import { UsageError } from '../context.ts';
import type { Description, Scale } from './description.ts';
import { pad, resize, writeFrontend } from './frontends.ts';
import { GraphWriter, writeModel, writeValue } from './graph.ts';
import { type GraphValue, parseShippedGraph, type SourceGraph } from './source-graph.ts';

/** Of names that are added to a graph. */
const prefix = 'undertone/';
const sampleRate = 16_000;
const minOpset = 13;
/** Shorter windows cut utterances into parts that are too short to score. */
const minWindowSeconds = 2;
/** Of the graphs that are written here alone. */
const ours = { irVersion: 9, opset: 20 };
const float = 1;

export type Composed = {
  readonly bytes: Buffer;
  /** Values of the output. */
  readonly width: number;
  /** Longest utterance. */
  readonly maxSeconds: number;
};

/** Samples [1, n] -> [1, width]: logits, dimensions, or the mean of hidden states. @throws UsageError */
export function composeSamplesGraph(source: SourceGraph, description: Description): Composed {
  const opset = source.opsets.find(([domain]) => domain === '' || domain === 'ai.onnx')?.[1] ?? 0;
  if (opset < minOpset)
    throw new UsageError(`Expected operators of version ${minOpset} or later, got ${opset}: export it again`);
  const { labels, dimensions, areProbabilities, minSeconds } = description;
  const values = labels?.length ?? dimensions?.length;
  const mask = source.inputs.find(({ name }) => name === 'attention_mask');
  const input = choose(
    'input',
    source.inputs.filter((one) => one !== mask),
    description.input,
  );
  const output = choose('output', source.outputs, description.output, ['logits', 'last_hidden_state']);
  const before = new GraphWriter(`${prefix}in`, opset);
  const fixed = description.frontend.kind === 'samples' ? (input.dims.at(-1) ?? null) : null;
  const maxSeconds = fixed === null ? description.maxSeconds : fixed / sampleRate;
  if (maxSeconds < minWindowSeconds)
    throw new UsageError(`Expected an input of ${minWindowSeconds} s or more, got ${maxSeconds} s`);
  const asked = before.op('Identity', [samplesName]);
  const long =
    fixed === null
      ? pad(before, asked, 1, 2, Math.ceil(minSeconds * sampleRate))
      : resize(before, asked, 1, 2, fixed);
  const read = writeFrontend(before, long, description.frontend);
  before.op('Identity', [read], {}, input.name);
  if (mask !== undefined) writeMask(before, long, mask);
  const after = new GraphWriter(`${prefix}out`, opset);
  const width = output.dims.at(-1) ?? values;
  if (width === undefined || width !== (values ?? width))
    throw new UsageError(
      `Expected ${values ?? 'a fixed number of'} values of ${output.name}, got ${width ?? 'any number'}`,
    );
  const logits = areProbabilities
    ? after.op('Log', [after.op('Max', [output.name, after.scalar(1e-7)])])
    : output.name;
  const one =
    values === undefined && output.dims.length === 3 ? after.reduce('ReduceMean', logits, 1) : logits;
  after.op('Reshape', [one, after.integers(1, width)], {}, embeddingName);
  const bytes = writeModel({
    irVersion: source.irVersion,
    opsets: source.opsets,
    nodes: [...before.nodes, ...source.nodes, ...after.nodes],
    weights: [...before.weights, ...source.weights, ...after.weights],
    inputs: [writeValue(samplesName, [1, 'samples'])],
    outputs: [writeValue(embeddingName, [1, width])],
  });
  return { bytes, width, maxSeconds };
}

function choose(
  what: 'input' | 'output',
  values: readonly GraphValue[],
  name: string | null,
  usual: readonly string[] = [],
): GraphValue {
  const names = values.map((value) => value.name);
  const wanted =
    name ?? usual.find((one) => names.includes(one)) ?? (values.length === 1 ? names[0] : undefined);
  const found = values.find((value) => value.name === wanted);
  if (found === undefined)
    throw new UsageError(
      `Expected ${name === null ? `one ${what}` : `the ${what} ${name}`}, got ${names.join(', ') || 'none'}: docs/your-model.md says how to name it`,
    );
  if (found.element !== float)
    throw new UsageError(`Expected 32-bit floats for the ${what} ${found.name}, got another type`);
  return found;
}

/** Every sample counts. */
function writeMask(g: GraphWriter, samples: string, { name, element }: GraphValue): void {
  const ones = g.op('Add', [g.op('Mul', [samples, g.scalar(0)]), g.scalar(1)]);
  g.op('Cast', [ones], { to: element }, name);
}

/** Mean of the last columns, which are of the source, over an utterance -> [1, columns] */
function meanOfSource(g: GraphWriter, width: number, columns: number): string {
  const source = g.op('Slice', ['tokens', g.integers(width - columns), g.integers(width), g.integers(2)]);
  const weights = g.op('Reshape', ['weights', g.integers(1, -1, 1)]);
  const sum = g.reduce('ReduceSum', g.op('Mul', [source, weights]), 1);
  const mean = g.op('Div', [sum, g.op('Max', [g.reduce('ReduceSum', weights, 1), g.scalar(1e-6)])]);
  return g.op('Reshape', [mean, g.integers(1, columns)]);
}

/** tokens, weights -> probabilities of the labels */
export function composeClassifierHead(width: number, labels: number): Buffer {
  const g = new GraphWriter(prefix, ours.opset);
  g.op('Softmax', [meanOfSource(g, width, labels)], { axis: 1 }, 'probabilities');
  const none = ['valence', 'arousal', 'valence_spread', 'arousal_spread', 'distance'];
  for (const name of none) g.op('Identity', [g.floats(Float32Array.of(0), [1])], {}, name);
  return writeModel({
    irVersion: ours.irVersion,
    opsets: [['', ours.opset]],
    nodes: g.nodes,
    weights: g.weights,
    inputs: [writeValue('tokens', [1, 'tokens', width]), writeValue('weights', [1, 'tokens'])],
    outputs: [writeValue('probabilities', [1, labels]), ...none.map((name) => writeValue(name, [1]))],
  });
}

/** A shipped head of emotion over the first of more columns, with valence and arousal of the source. */
export function composeDimensionsHead(
  shipped: Uint8Array,
  width: number,
  scales: readonly Scale[],
): Promise<Buffer> {
  return widen(shipped, width, (g) => {
    const mean = meanOfSource(g, width, scales.length);
    const replaced = scales.flatMap(({ name, low, high }, at) => {
      if (name === 'dominance') return [];
      const column = g.op('Slice', [mean, g.integers(at), g.integers(at + 1), g.integers(1)]);
      const shifted = g.op('Sub', [g.op('Reshape', [column, g.integers(1)]), g.scalar(low)]);
      const score = g.op('Div', [shifted, g.scalar(high - low)]);
      return [
        [name, g.op('Clip', [score, g.scalar(0), g.scalar(1)])] as const,
        [`${name}_spread`, g.floats(Float32Array.of(1), [1])] as const,
      ];
    });
    return new Map(replaced);
  });
}

/**
 * A shipped graph over embeddings, which reads the first of more columns.
 * @param replace adds nodes -> values in place of outputs
 */
export async function widen(
  shipped: Uint8Array,
  width: number,
  replace: (g: GraphWriter) => ReadonlyMap<string, string> = () => new Map(),
): Promise<Buffer> {
  const graph = await parseShippedGraph(shipped);
  const opset = graph.opsets.find(([domain]) => domain === '')?.[1] ?? 0;
  const known = graph.inputs.find(({ name }) => name === 'tokens')?.dims.at(-1) as number;
  const g = new GraphWriter(prefix, opset);
  const first = g.op('Slice', ['tokens', g.integers(0), g.integers(known), g.integers(2)]);
  const replaced = replace(g);
  for (const [output, value] of replaced) g.op('Identity', [value], {}, output);
  const renamed = new Map([...replaced.keys()].map((name) => [name, `${prefix}shipped/${name}`]));
  const inner = new Map([...renamed, ['tokens', first]]);
  return writeModel({
    ...graph,
    nodes: [...g.nodes, ...graph.nodes.map((node) => rename(node, inner))],
    weights: [...g.weights, ...graph.weights],
    inputs: graph.inputs.map(({ name, dims, raw }) =>
      name === 'tokens' ? writeValue('tokens', [dims[0] ?? 'windows', 'tokens', width]) : [raw],
    ),
    outputs: graph.outputs.map(({ raw }) => [raw]),
  });
}

/** Renames inputs and outputs of a node. */
function rename(node: Parts, names: ReadonlyMap<string, string>): Parts {
  const { inputs, outputs } = fields.node;
  const parts: Uint8Array[] = [];
  for (const { number, value, raw } of readFields(Buffer.concat(node))) {
    const isValue = number === inputs || number === outputs;
    const name = isValue ? names.get(Buffer.from(value as Uint8Array).toString()) : undefined;
    parts.push(...(name === undefined ? [raw] : bytesField(number, name)));
  }
  return parts;
}
