/** Graphs that hide what they compute from the check. */
import test from 'ava';
import { checkGraph, fields } from '../../src/node/onnx-operators.ts';
import { bytesField, readFields } from '../../src/node/protobuf.ts';
import { onnxFile, writeDullness } from '../support/onnx-source.ts';

const { graph } = fields.model;
const { nodes: node } = fields.graph;
const { kind, attributes: attribute } = fields.node;

test('a key of more than 32 bits, whose other bits ONNX Runtime drops, is no message', (t) => {
  // Field 1 with bytes, and bit 32.
  const key = [0x8a, 0x80, 0x80, 0x80, 0x10];
  t.throws(() => [...readFields(Uint8Array.of(...key, 0))], { message: /^Expected a protobuf message/ });
  const hidden = Buffer.concat(bytesField(kind, 'Loop'));
  const shown = Buffer.concat(bytesField(kind, 'Identity'));
  const nodes = [...bytesField(node, shown), Uint8Array.of(...key, hidden.length), hidden];
  t.throws(() => checkGraph(Buffer.concat(bytesField(graph, nodes))), {
    message: /^Expected a protobuf message/,
  });
});

test('a file in the other format of ONNX Runtime is refused', (t) => {
  const file = onnxFile({ write: writeDullness });
  t.notThrows(() => checkGraph(file));
  file.write('ORTM', 4);
  t.throws(() => checkGraph(file), {
    message: /^Expected an ONNX file, got one in the format of ONNX Runtime$/,
  });
});

test('an operator has a limited number of attributes', (t) => {
  const attributes = Array.from({ length: 2000 }, () => bytesField(attribute, '')).flat();
  const model = bytesField(graph, bytesField(node, [...bytesField(kind, 'Identity'), ...attributes]));
  t.throws(() => checkGraph(Buffer.concat(model)), { message: /^Expected at most 1024 attributes/ });
});
