/** Puts corrections into the graph of a head, behind its outputs. */
import type { Correction } from './correction.ts';
import type { DimensionAdaptation } from './dimensions.ts';
import { type LabelAdaptation, minProbability } from './labels.ts';
import { GraphEditor, readOnnx, writeOnnx } from './onnx.ts';

export type GraphCorrections = {
  /** `known`: the labels of the graph as it is. */
  readonly labels: (LabelAdaptation & { readonly known: readonly string[] }) | null;
  /** By name of the output, which has shape [1] and is clipped to [0, 1]. */
  readonly scores: Readonly<Record<string, DimensionAdaptation>>;
};

/** @param weights an ONNX file with the inputs `tokens` [1 x N x dimensions] and `weights` [1 x N] */
export function correctGraph(weights: Uint8Array, { labels, scores }: GraphCorrections): Uint8Array {
  const onnx = readOnnx(weights);
  const graph = new GraphEditor(onnx.graph);
  const embedding = writeMean(graph);
  if (labels !== null) writeLabels(graph, embedding, labels);
  for (const [name, { correction }] of Object.entries(scores)) {
    const scaled = graph.node('Mul', [graph.takeOutput(name), graph.constant([correction.scale], [1])]);
    const moved = graph.node('Reshape', [shift(graph, scaled, embedding, correction), graph.integers(1)]);
    const bounds = [graph.constant([0], []), graph.constant([1], [])];
    graph.setOutput(name, graph.node('Clip', [moved, ...bounds]), 1);
  }
  return writeOnnx(onnx);
}

/** @returns the mean of the embeddings, weighted by speech [1 x dimensions] */
function writeMean(graph: GraphEditor): string {
  const axis = graph.integers(1);
  const total = graph.node('ReduceSum', ['weights', axis], { keepdims: 1 });
  const shares = graph.node('Unsqueeze', [graph.node('Div', ['weights', total]), axis]);
  return graph.node('Squeeze', [graph.node('MatMul', [shares, 'tokens']), axis]);
}

function writeLabels(
  graph: GraphEditor,
  embedding: string,
  { known, labels, correction }: NonNullable<GraphCorrections['labels']>,
): void {
  const floor = graph.constant([minProbability], []);
  const logs = graph.node('Log', [graph.node('Max', [graph.takeOutput('probabilities'), floor])]);
  const chosen = known.flatMap((name) => labels.map((label) => (label === name ? correction.scale : 0)));
  const scaled = graph.node('MatMul', [logs, graph.constant(chosen, [known.length, labels.length])]);
  const logits = shift(graph, scaled, embedding, correction);
  graph.setOutput('probabilities', graph.node('Softmax', [logits], { axis: -1 }), labels.length);
}

/** @returns value + bias + embedding . weights */
function shift(graph: GraphEditor, value: string, embedding: string, { bias, weights }: Correction): string {
  const moved = graph.node('Add', [value, graph.constant(bias, [bias.length])]);
  if (weights === null) return moved;
  const matrix = graph.constant(weights, [weights.length / bias.length, bias.length]);
  return graph.node('Add', [moved, graph.node('MatMul', [embedding, matrix])]);
}
