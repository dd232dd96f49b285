/**
 * What the graph of a stranger may compute. A run cannot be stopped, so nothing in a graph repeats or chooses: no operator has
 * a subgraph. All weights are in the file.
 */
import { bytesOf, readFields, textOf } from './protobuf.ts';

/** Operators of ONNX without subgraphs, sequences, strings and random numbers. */
const standard = new Set(
  `Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization BitShift BitwiseAnd BitwiseNot
  BitwiseOr BitwiseXor Cast CastLike Ceil Celu Clip Compress Concat Constant ConstantOfShape Conv ConvInteger ConvTranspose Cos
  Cosh CumSum DFT DepthToSpace DequantizeLinear Det Div Dropout DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand EyeLike
  Flatten Floor GRU Gather GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool Greater GreaterOrEqual
  GroupNormalization HammingWindow HannWindow HardSigmoid HardSwish Hardmax Identity InstanceNormalization IsInf IsNaN LRN LSTM
  LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax LpNormalization LpPool MatMul MatMulInteger Max MaxPool Mean
  MeanVarianceNormalization MelWeightMatrix Min Mish Mod Mul Neg NonZero Not OneHot Or PRelu Pad Pow QLinearConv QLinearMatMul
  QuantizeLinear RMSNormalization RNN Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean
  ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize ReverseSequence RotaryEmbedding Round STFT ScatterElements
  ScatterND Selu Shape Shrink Sigmoid Sign Sin Sinh Size Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum
  Swish Tan Tanh ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze Where Xor`.split(/\s+/),
);
/** What the optimizer and the quantizer of ONNX Runtime write in their place. */
const runtime = new Set(
  `Attention BiasGelu BiasSoftmax DynamicQuantizeMatMul FastGelu FusedConv FusedMatMul Gelu GatedRelativePositionBias
  LayerNormalization MatMulIntegerToFloat MatMulNBits MultiHeadAttention QAttention QGemm QLinearAdd QLinearAveragePool
  QLinearConcat QLinearGlobalAveragePool QLinearLeakyRelu QLinearMul QLinearSigmoid QLinearSoftmax QuickGelu
  RelativePositionBias SkipLayerNormalization`.split(/\s+/),
);
const allowed: Readonly<Record<string, ReadonlySet<string>>> = {
  '': standard,
  'ai.onnx': standard,
  'com.microsoft': runtime,
};

/** Numbers of the fields of onnx.proto. */
export const fields = {
  model: { irVersion: 1, producer: 2, graph: 7, opsets: 8, functions: 25 },
  opset: { domain: 1, version: 2 },
  graph: { nodes: 1, name: 2, weights: 5, inputs: 11, outputs: 12, shapes: 13, sparseWeights: 15 },
  node: { inputs: 1, outputs: 2, name: 3, kind: 4, attributes: 5, domain: 7 },
  attribute: {
    name: 1,
    float: 2,
    integer: 3,
    tensor: 5,
    graph: 6,
    integers: 8,
    tensors: 10,
    graphs: 11,
    type: 20,
  },
  tensor: { dims: 1, type: 2, name: 8, raw: 9, external: 13, location: 14 },
  external: { key: 1, value: 2 },
  value: { name: 1, type: 2 },
  type: { tensor: 1 },
  tensorType: { element: 1, shape: 2 },
  shape: { dims: 1 },
  dim: { size: 1, name: 2 },
} as const;

/** Of `location` of a tensor: its data are in another file. */
export const externalLocation = 1;

/** ONNX Runtime's other format begins with the identifier of its FlatBuffers. */
const runtimeFormat = { at: 4, name: 'ORTM' };
/** Of one node. */
const maxAttributes = 1024;

/** @throws Error with what the graph has, for one that computes anything else */
export function checkGraph(model: Uint8Array): void {
  const { at, name } = runtimeFormat;
  if (decode(model.subarray(at, at + name.length)) === name)
    throw new Error('Expected an ONNX file, got one in the format of ONNX Runtime');
  const graphs = bytesOf(model, fields.model.graph);
  if (graphs.length !== 1)
    throw new Error(`Expected an ONNX file with a graph, got one with ${graphs.length}`);
  if (bytesOf(model, fields.model.functions).length > 0)
    throw new Error('Expected operators alone, got functions of the file');
  for (const { number, value } of readFields(graphs[0] as Uint8Array)) {
    if (typeof value === 'bigint') continue;
    if (number === fields.graph.nodes) checkNode(value);
    if (number === fields.graph.weights) checkTensor(value);
    if (number === fields.graph.sparseWeights) throw new Error('Expected dense weights, got sparse ones');
  }
}

function checkNode(node: Uint8Array): void {
  const { attributes, kind, domain } = fields.node;
  let [operator, maker] = ['', ''];
  const inner: Uint8Array[] = [];
  for (const { number, value } of readFields(node)) {
    if (typeof value === 'bigint') continue;
    if (number === kind) operator = decode(value);
    else if (number === domain) maker = decode(value);
    else if (number === attributes) inner.push(value);
    if (inner.length > maxAttributes)
      throw new Error(`Expected at most ${maxAttributes} attributes of an operator, got more`);
  }
  const name = maker === '' ? operator : `${maker}.${operator}`;
  if (allowed[maker]?.has(operator) !== true)
    throw new Error(`Expected operators without control flow, got ${name}`);
  for (const attribute of inner) checkAttribute(attribute, name);
}

function checkAttribute(attribute: Uint8Array, operator: string): void {
  const { tensor, tensors, graph, graphs } = fields.attribute;
  for (const { number, value } of readFields(attribute)) {
    if (typeof value === 'bigint') continue;
    if (number === graph || number === graphs)
      throw new Error(`Expected operators without control flow, got ${operator} with a subgraph`);
    if (number === tensor || number === tensors) checkTensor(value);
  }
}

function checkTensor(tensor: Uint8Array): void {
  const { location, external, name } = fields.tensor;
  for (const { number, value } of readFields(tensor)) {
    if (number === external || (number === location && value === BigInt(externalLocation)))
      throw new Error(`Expected weights inside the file, got ${textOf(tensor, name)} in another`);
  }
}

const decode = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
