/** A process of `undertone models add`: loads a set, writes its examples, and times its trunk on the longest utterance. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { goldensOf, type Models } from '../../engine/index.ts';
import { loadModels } from '../../node/models.ts';

export type TrialResult =
  | { readonly error: string }
  /** Of an utterance of `seconds`, on one thread. */
  | { readonly seconds: number; readonly milliseconds: number };

const repeats = 3;
/** Of a sum of probabilities, which may be computed in float16 or int8. */
const tolerance = 0.02;

/** @param probabilities that end each embedding; 0 for none */
async function tryOut(out: string, probabilities: number): Promise<TrialResult> {
  const models = await loadModels(out);
  const result = await timeLongest(models, probabilities);
  for (const [name, golden] of Object.entries(await goldensOf(models)))
    await writeFile(join(out, name, 'golden.json'), `${JSON.stringify(golden, null, 2)}\n`, { flag: 'wx' });
  return result;
}

async function timeLongest(
  { trunk: { session, manifest } }: Models,
  probabilities: number,
): Promise<TrialResult> {
  const { hopLength, nMels, sampleRate } = manifest.features;
  const seconds = manifest.params.windowSeconds;
  const samples = Float32Array.from(
    { length: seconds * sampleRate },
    (_, at) => 0.1 * Math.sin(at * at * 1e-4),
  );
  const frames = samples.length / hopLength;
  const inputs = Object.fromEntries(
    session.inputs.map((name) => [
      name,
      name === 'samples'
        ? { data: samples, shape: [1, samples.length] }
        : { data: new Float32Array(frames * nMels), shape: [1, frames, nMels] },
    ]),
  );
  const times: number[] = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    const started = performance.now();
    const { tokens } = await session.run(inputs);
    times.push(performance.now() - started);
    if (!tokens?.data.every(Number.isFinite))
      return { error: 'Expected finite numbers as output, got others' };
    // Every embedding of an utterance ends in the same logarithms.
    const last = [...tokens.data.subarray(tokens.data.length - probabilities)];
    const sum = last.reduce((all, log) => all + Math.exp(log), 0);
    if (probabilities > 0 && Math.abs(sum - 1) > tolerance)
      return {
        error: `Expected probabilities, whose sum is 1, as output, got ${sum.toPrecision(3)}: where they are logits, the \`kind\` is \`logits\``,
      };
  }
  return { seconds, milliseconds: Math.min(...times) };
}

const [, , folder = '', probabilities = '0'] = process.argv;
const result = await tryOut(folder, Number(probabilities)).catch(
  (error: Error): TrialResult => ({ error: error.message }),
);
process.send?.(result, () => process.disconnect());
