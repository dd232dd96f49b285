/** Typed arrays in shared memory: threads pass them on without a copy on the main thread. */

type Numbers = Float32Array | Float64Array | Uint8Array;

/** A copy of the value whose typed arrays are in shared memory. */
export function share<Value>(value: Value): Value {
  return mapArrays(value, (length) => new SharedArrayBuffer(length)) as Value;
}

/** A copy of the value whose typed arrays belong to this thread alone. */
export function unshare<Value>(value: Value): Value {
  return mapArrays(value, (length) => new ArrayBuffer(length)) as Value;
}

/** @param value of plain objects, arrays, typed arrays and primitives */
function mapArrays(value: unknown, allocate: (bytes: number) => ArrayBufferLike): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (ArrayBuffer.isView(value)) {
    const array = value as Numbers;
    const copy = new (array.constructor as Float32ArrayConstructor)(allocate(array.byteLength));
    copy.set(array);
    return copy;
  }
  if (Array.isArray(value)) return value.map((item) => mapArrays(item, allocate));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, mapArrays(item, allocate)] as const),
  );
}
