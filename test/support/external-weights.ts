/** Moves the weights of an ONNX file into another file, as exporters do with large ones. */
import { fields } from '../../src/node/onnx-operators.ts';
import { bytesField, bytesOf, integerField, type Parts, readFields } from '../../src/node/protobuf.ts';

export function embedded(
  file: Uint8Array,
  location: string,
): { readonly model: Buffer; readonly data: Buffer } {
  const data: Uint8Array[] = [];
  let at = 0;
  const moved = (tensor: Uint8Array): Parts => {
    const parts: Uint8Array[] = [];
    for (const { number, raw } of readFields(tensor)) if (number !== fields.tensor.raw) parts.push(raw);
    const [bytes = new Uint8Array()] = bytesOf(tensor, fields.tensor.raw);
    const entry = (key: string, value: string) =>
      bytesField(fields.tensor.external, [
        ...bytesField(fields.external.key, key),
        ...bytesField(fields.external.value, value),
      ]);
    parts.push(
      ...entry('location', location),
      ...entry('offset', String(at)),
      ...entry('length', String(bytes.length)),
      ...integerField(fields.tensor.location, 1),
    );
    data.push(bytes);
    at += bytes.length;
    return parts;
  };
  const model: Uint8Array[] = [];
  for (const { number, value, raw } of readFields(file)) {
    if (number !== fields.model.graph) {
      model.push(raw);
      continue;
    }
    const graph: Uint8Array[] = [];
    for (const inner of readFields(value as Uint8Array))
      graph.push(
        ...(inner.number === fields.graph.weights
          ? bytesField(inner.number, moved(inner.value as Uint8Array))
          : [inner.raw]),
      );
    model.push(...bytesField(number, graph));
  }
  return { model: Buffer.concat(model), data: Buffer.concat(data) };
}
