/** Writes ONNX graphs: new nodes, and those of graphs that are joined. */

import { fields } from '../../node/onnx-operators.ts';
import { bytesField, floatField, integerField, type Parts } from '../../node/protobuf.ts';

/** Of onnx.proto. */
const elementTypes = { float: 1, int64: 7 } as const;
const attributeTypes = { float: 1, integer: 2, integers: 7 } as const;

type Attribute = { readonly float: number } | number | readonly number[];
type Shape = readonly (number | string)[];

/** A part of a graph: names of values are unique by `prefix`. */
export class GraphWriter {
  readonly nodes: Parts[] = [];
  readonly weights: Parts[] = [];
  readonly #prefix: string;
  readonly #opset: number;
  #count = 0;

  /** @param opset of the standard operators, 13 or later */
  constructor(prefix: string, opset: number) {
    this.#prefix = prefix;
    this.#opset = opset;
  }

  #name(): string {
    return `${this.#prefix}${this.#count++}`;
  }

  /** @returns the name of its output */
  op(
    kind: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>> = {},
    output = this.#name(),
    domain = '',
  ): string {
    this.nodes.push([
      ...inputs.flatMap((name) => bytesField(fields.node.inputs, name)),
      ...bytesField(fields.node.outputs, output),
      ...bytesField(fields.node.kind, kind),
      ...(domain === '' ? [] : bytesField(fields.node.domain, domain)),
      ...Object.entries(attributes).flatMap(([name, value]) => writeAttribute(name, value)),
    ]);
    return output;
  }

  /** @param axis is kept with the size 1 */
  reduce(kind: 'ReduceMean' | 'ReduceMax' | 'ReduceSum', x: string, axis: number): string {
    const isInput = this.#opset >= 18 || kind === 'ReduceSum';
    return isInput
      ? this.op(kind, [x, this.integers(axis)], { keepdims: 1 })
      : this.op(kind, [x], { axes: [axis], keepdims: 1 });
  }

  floats(data: Float32Array, dims: readonly number[]): string {
    return this.#constant(
      elementTypes.float,
      new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
      dims,
    );
  }

  scalar(value: number): string {
    return this.floats(Float32Array.of(value), []);
  }

  integers(...values: number[]): string {
    const data = BigInt64Array.from(values, BigInt);
    return this.#constant(elementTypes.int64, new Uint8Array(data.buffer), [values.length]);
  }

  #constant(type: number, raw: Uint8Array, dims: readonly number[]): string {
    const name = this.#name();
    this.weights.push([
      ...dims.flatMap((size) => integerField(fields.tensor.dims, size)),
      ...integerField(fields.tensor.type, type),
      ...bytesField(fields.tensor.name, name),
      ...bytesField(fields.tensor.raw, raw),
    ]);
    return name;
  }
}

function writeAttribute(name: string, value: Attribute): Parts {
  const { attribute } = fields;
  const typed = (type: number, ...parts: Parts[]): Parts =>
    bytesField(fields.node.attributes, [
      ...bytesField(attribute.name, name),
      ...parts.flat(),
      ...integerField(attribute.type, type),
    ]);
  if (typeof value === 'number') return typed(attributeTypes.integer, integerField(attribute.integer, value));
  if ('float' in value) return typed(attributeTypes.float, floatField(attribute.float, value.float));
  return typed(attributeTypes.integers, ...value.map((one) => integerField(attribute.integers, one)));
}

/** A value of 32-bit floats that a graph reads or returns. */
export function writeValue(name: string, shape: Shape): Parts {
  const { dim, value, type, tensorType } = fields;
  const dims = shape.flatMap((size) =>
    bytesField(
      fields.shape.dims,
      typeof size === 'number' ? integerField(dim.size, size) : bytesField(dim.name, size),
    ),
  );
  const tensor = [
    ...integerField(tensorType.element, elementTypes.float),
    ...bytesField(tensorType.shape, dims),
  ];
  return [...bytesField(value.name, name), ...bytesField(value.type, bytesField(type.tensor, tensor))];
}

type Model = {
  readonly irVersion: number;
  /** Domain and version. */
  readonly opsets: readonly (readonly [string, number])[];
  readonly nodes: readonly Parts[];
  readonly weights: readonly Parts[];
  readonly inputs: readonly Parts[];
  readonly outputs: readonly Parts[];
};

export function writeModel({ irVersion, opsets, nodes, weights, inputs, outputs }: Model): Buffer {
  const { graph, model, opset } = fields;
  const all = (number: number, messages: readonly Parts[]) =>
    messages.flatMap((message) => bytesField(number, message));
  return Buffer.concat([
    ...integerField(model.irVersion, irVersion),
    ...bytesField(model.producer, 'undertone'),
    ...opsets.flatMap(([domain, version]) =>
      bytesField(model.opsets, [
        ...bytesField(opset.domain, domain),
        ...integerField(opset.version, version),
      ]),
    ),
    ...bytesField(model.graph, [
      ...all(graph.nodes, nodes),
      ...bytesField(graph.name, 'undertone'),
      ...all(graph.weights, weights),
      ...all(graph.inputs, inputs),
      ...all(graph.outputs, outputs),
    ]),
  ]);
}
