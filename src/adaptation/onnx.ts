/** Reads and writes ONNX files: the messages and fields of onnx.proto (ONNX 1.18, Apache-2.0) that model graphs here use. */
import protobuf from 'protobufjs';

const schema = `
syntax = "proto2";
message Attribute {
  optional string name = 1; optional float f = 2; optional int64 i = 3; optional bytes s = 4; optional Tensor t = 5;
  repeated float floats = 7; repeated int64 ints = 8; repeated bytes strings = 9; optional int32 type = 20;
}
message Node {
  repeated string input = 1; repeated string output = 2; optional string name = 3; optional string opType = 4;
  repeated Attribute attribute = 5; optional string docString = 6; optional string domain = 7;
}
message Tensor {
  repeated int64 dims = 1; optional int32 dataType = 2; repeated float floatData = 4 [packed = true];
  repeated int32 int32Data = 5 [packed = true]; repeated int64 int64Data = 7 [packed = true];
  optional string name = 8; optional bytes rawData = 9; optional string docString = 12;
}
message Dimension { optional int64 dimValue = 1; optional string dimParam = 2; }
message Shape { repeated Dimension dim = 1; }
message TensorType { optional int32 elemType = 1; optional Shape shape = 2; }
message Type { optional TensorType tensorType = 1; }
message ValueInfo { optional string name = 1; optional Type type = 2; optional string docString = 3; }
message Graph {
  repeated Node node = 1; optional string name = 2; repeated Tensor initializer = 5; optional string docString = 10;
  repeated ValueInfo input = 11; repeated ValueInfo output = 12; repeated ValueInfo valueInfo = 13;
}
message OperatorSet { optional string domain = 1; optional int64 version = 2; }
message Model {
  optional int64 irVersion = 1; optional string producerName = 2; optional string producerVersion = 3;
  optional string domain = 4; optional int64 modelVersion = 5; optional string docString = 6; optional Graph graph = 7;
  repeated OperatorSet opsetImport = 8;
}`;

type Attribute = {
  readonly name: string;
  readonly i?: number;
  readonly ints?: readonly number[];
  readonly type: number;
};
type Node = {
  readonly opType: string;
  readonly input: readonly string[];
  readonly output: string[];
  readonly attribute: readonly Attribute[];
};
type Tensor = {
  readonly name: string;
  readonly dataType: number;
  readonly dims: readonly number[];
  readonly rawData: Uint8Array;
};
type Dimension = { dimValue?: number };
type ValueInfo = {
  readonly name: string;
  readonly type: { readonly tensorType: { readonly shape: { readonly dim: Dimension[] } } };
};
type Graph = { readonly node: Node[]; readonly initializer: Tensor[]; readonly output: ValueInfo[] };
export type OnnxModel = { readonly graph: Graph };

const model = protobuf.parse(schema).root.lookupType('Model');
const dataTypes = { float: 1, int64: 7 };
const attributeTypes = { int: 2 };

/** @throws Error for a file with fields that this schema does not have: they would be lost */
export function readOnnx(bytes: Uint8Array): OnnxModel {
  const read = model.decode(bytes) as unknown as OnnxModel;
  if (writeOnnx(read).length !== bytes.length)
    throw new Error('Expected an ONNX file with no other fields than those of the shipped models');
  return read;
}

export function writeOnnx(written: OnnxModel): Uint8Array {
  return model.encode(written).finish();
}

/** Appends nodes to a graph. */
export class GraphEditor {
  private count = 0;

  constructor(private readonly graph: Graph) {}

  /** Gives an output of the graph to new nodes. @returns the value that it had */
  takeOutput(name: string): string {
    const before = `before_${name}`;
    for (const { output } of this.graph.node) {
      const at = output.indexOf(name);
      if (at >= 0) output[at] = before;
    }
    return before;
  }

  /** @param size of the last dimension */
  setOutput(name: string, value: string, size: number): void {
    this.graph.node.push({ opType: 'Identity', input: [value], output: [name], attribute: [] });
    const last = this.graph.output.find((output) => output.name === name)?.type.tensorType.shape.dim.at(-1);
    if (last !== undefined) last.dimValue = size;
  }

  /** @param integers attributes of type int @returns the output */
  node(opType: string, input: readonly string[], integers: Readonly<Record<string, number>> = {}): string {
    const output = this.newName(opType.toLowerCase());
    const attribute = Object.entries(integers).map(([name, i]) => ({ name, i, type: attributeTypes.int }));
    this.graph.node.push({ opType, input, output: [output], attribute });
    return output;
  }

  constant(values: ArrayLike<number>, dims: readonly number[]): string {
    return this.tensor('float', dims, new Uint8Array(Float32Array.from(values).buffer));
  }

  integers(...values: readonly number[]): string {
    return this.tensor('int64', [values.length], new Uint8Array(BigInt64Array.from(values, BigInt).buffer));
  }

  private tensor(type: keyof typeof dataTypes, dims: readonly number[], rawData: Uint8Array): string {
    const name = this.newName('constant');
    this.graph.initializer.push({ name, dataType: dataTypes[type], dims, rawData });
    return name;
  }

  private newName(stem: string): string {
    return `adapted_${stem}_${this.count++}`;
  }
}
