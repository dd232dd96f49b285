import { readFileSync } from 'node:fs';

/** Reads .npy as its format says, without a look at how it was written. */
export function readNpy(path: string): { shape: number[]; data: Float32Array } {
  const bytes = readFileSync(path);
  const length = bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, 10 + length);
  const match = /'descr': '<f4', 'fortran_order': False, 'shape': \((\d+), (\d+)\)/.exec(header);
  const body = bytes.subarray(10 + length);
  const data = Float32Array.from({ length: body.length / 4 }, (_, index) => body.readFloatLE(4 * index));
  return { shape: [Number(match?.[1]), Number(match?.[2])], data };
}
