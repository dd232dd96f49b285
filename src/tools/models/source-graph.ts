/** The graph of an ONNX file, with the data of its weights. */
import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { FileError, readRegularFile } from '../../node/files.ts';
import { externalLocation, fields } from '../../node/onnx-operators.ts';
import { bytesField, bytesOf, integerOf, type Parts, readFields, textOf } from '../../node/protobuf.ts';
import { UsageError } from '../context.ts';

/** Of a message of protobuf. */
const maxBytes = 2 ** 31 - 1;

export type GraphValue = {
  readonly name: string;
  /** As onnx.proto numbers them: 1 is float, 7 int64. */
  readonly element: number;
  /** Null where the size varies. */
  readonly dims: readonly (number | null)[];
  /** As it is written. */
  readonly raw: Uint8Array;
};

export type SourceGraph = {
  readonly irVersion: number;
  readonly opsets: readonly (readonly [domain: string, version: number])[];
  readonly nodes: readonly Parts[];
  readonly weights: readonly Parts[];
  /** Those that are not weights. */
  readonly inputs: readonly GraphValue[];
  readonly outputs: readonly GraphValue[];
};

/** @throws UsageError */
export async function readSourceGraph(path: string): Promise<SourceGraph> {
  const model = await readSourceFile(path, dirname(path));
  try {
    return await parseGraph(model, dirname(path));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`Expected an ONNX file, got ${path}: ${(error as Error).message}`);
  }
}

/** A graph whose weights are in its file, as those of shipped models. */
export function parseShippedGraph(model: Uint8Array): Promise<SourceGraph> {
  return parseGraph(model, '');
}

async function parseGraph(model: Uint8Array, folder: string): Promise<SourceGraph> {
  const [graph] = bytesOf(model, fields.model.graph);
  if (graph === undefined) throw new Error('no graph');
  const files = new Map<string, Buffer>();
  const weights: Parts[] = [];
  for (const tensor of bytesOf(graph, fields.graph.weights)) weights.push(await embed(tensor, folder, files));
  const names = new Set(bytesOf(graph, fields.graph.weights).map((one) => textOf(one, fields.tensor.name)));
  return {
    irVersion: integerOf(model, fields.model.irVersion) ?? 0,
    opsets: bytesOf(model, fields.model.opsets).map((one) => [
      textOf(one, fields.opset.domain) ?? '',
      integerOf(one, fields.opset.version) ?? 0,
    ]),
    nodes: bytesOf(graph, fields.graph.nodes).map((node) => [node]),
    weights,
    inputs: bytesOf(graph, fields.graph.inputs)
      .map(parseValue)
      .filter(({ name }) => !names.has(name)),
    outputs: bytesOf(graph, fields.graph.outputs).map(parseValue),
  };
}

function parseValue(value: Uint8Array): GraphValue {
  const inner = (message: Uint8Array, number: number) => bytesOf(message, number)[0] ?? new Uint8Array();
  const type = inner(inner(value, fields.value.type), fields.type.tensor);
  const dims = bytesOf(inner(type, fields.tensorType.shape), fields.shape.dims);
  return {
    name: textOf(value, fields.value.name) ?? '',
    element: integerOf(type, fields.tensorType.element) ?? 0,
    dims: dims.map((dim) => integerOf(dim, fields.dim.size)),
    raw: value,
  };
}

/** The tensor with its data, which may be in a file of the folder. */
async function embed(tensor: Uint8Array, folder: string, files: Map<string, Buffer>): Promise<Parts> {
  if (integerOf(tensor, fields.tensor.location) !== externalLocation) return [tensor];
  const entries = bytesOf(tensor, fields.tensor.external).map((entry) => [
    textOf(entry, fields.external.key),
    textOf(entry, fields.external.value) ?? '',
  ]);
  const { location = '', offset = '0', length } = Object.fromEntries(entries) as Record<string, string>;
  const path = inside(folder, location);
  const known = files.get(path) ?? (await readSourceFile(path, folder));
  files.set(path, known);
  const from = Number(offset);
  const size = length === undefined ? known.length - from : Number(length);
  if (
    !(
      Number.isInteger(from) &&
      Number.isInteger(size) &&
      from >= 0 &&
      size >= 0 &&
      from + size <= known.length
    )
  )
    throw new UsageError(
      `Expected ${size} bytes from ${from} on in ${location}, got a file of ${known.length} bytes`,
    );
  const rest: Uint8Array[] = [];
  for (const { number, raw } of readFields(tensor))
    if (number !== fields.tensor.external && number !== fields.tensor.location) rest.push(raw);
  return [...rest, ...bytesField(fields.tensor.raw, known.subarray(from, from + size))];
}

function inside(folder: string, location: string): string {
  const path = normalize(location);
  if (location === '' || isAbsolute(path) || path.split('/').includes('..') || location.includes('\\'))
    throw new UsageError(`Expected weights in a file of the source folder, got ${JSON.stringify(location)}`);
  return join(folder, path);
}

/** @param folder in which the file is, whatever links lead to it */
async function readSourceFile(path: string, folder: string): Promise<Buffer> {
  try {
    return await readRegularFile(path, { maxBytes, roots: [await realpath(folder)] });
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new UsageError(`Expected a file of at most 2 GiB, got ${path}: ${error.got}`);
  }
}
