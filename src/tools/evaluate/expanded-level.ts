/**
 * Level at which a percentile bootstrap over a few speakers has the coverage of a larger sample: percentile intervals are too
 * narrow by what Student's distribution is wider (expanded percentile interval: Hesterberg 2015, The American Statistician 69).
 */

const steps = 20_000;
/** Beyond it the normal distribution has no mass. */
const bound = 10;

/** @param level of an interval with two ends, 0 to 1 */
export function expandedLevel(level: number, speakers: number): number {
  const tail = (1 - level) / 2;
  const student = -studentQuantile(tail, speakers - 1);
  return 1 - 2 * normalTail(Math.sqrt(speakers / (speakers - 1)) * student);
}

/** With x = sqrt(degrees) tan(angle) the density is proportional to cos(angle)^(degrees - 1). */
function studentQuantile(probability: number, degrees: number): number {
  const angles = Array.from({ length: steps }, (_, step) => Math.PI * ((step + 0.5) / steps - 0.5));
  const density = angles.map((angle) => Math.cos(angle) ** (degrees - 1));
  let left = probability * density.reduce((sum, value) => sum + value, 0);
  const at = density.findIndex((value) => {
    left -= value;
    return left <= 0;
  });
  return Math.sqrt(degrees) * Math.tan(angles[at] ?? 0);
}

/** Probability of a larger value. */
function normalTail(value: number): number {
  const width = Math.max(0, bound - value) / steps;
  let sum = 0;
  for (let step = 0; step < steps; step++) sum += Math.exp(-((value + (step + 0.5) * width) ** 2) / 2);
  return (sum * width) / Math.sqrt(2 * Math.PI);
}
