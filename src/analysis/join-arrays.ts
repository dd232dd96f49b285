/** Concatenates; a single array is returned without a copy. */
export function joinArrays(arrays: readonly Float32Array[]): Float32Array {
  const [first] = arrays;
  if (first !== undefined && arrays.length === 1) return first;
  const joined = new Float32Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const array of arrays) {
    joined.set(array, at);
    at += array.length;
  }
  return joined;
}
