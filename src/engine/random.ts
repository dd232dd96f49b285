/** Linear congruential generator of Numerical Recipes: the same numbers in [0, 1) for a seed, on every machine. */
export function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
