/** What the models of a folder make of the golden signal, against what golden.json says that they must. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  digest,
  type Golden,
  goldenSchema,
  type Outputs,
  replay,
  syntheticSignal,
} from '../../src/models/golden.ts';
import type { Models } from '../../src/models/loader.ts';
import type { Kind } from '../../src/models/manifest.ts';

export const names: readonly Kind[] = ['vad', 'trunk', 'emotion', 'cognitive'];

export async function readGolden(modelsDir: string, name: string): Promise<Golden> {
  return goldenSchema.parse(JSON.parse(await readFile(join(modelsDir, name, 'golden.json'), 'utf8')));
}

/** One sentence a difference; none where the model is the one that its golden was made with. */
export async function goldenDifferences(models: Models, modelsDir: string, name: Kind): Promise<string[]> {
  const golden = await readGolden(modelsDir, name);
  const samples = syntheticSignal(golden.signal.seed, golden.signal.seconds);
  const outputs = (await replay(models, samples))[name] as Outputs[string];
  return [
    ...different(`${name} signal`, golden.digest, digest(samples)),
    ...different(`${name} labels`, golden.labels, models[name].manifest.labels),
    ...different(`${name} outputs`, Object.keys(golden.outputs).sort(), Object.keys(outputs).sort()),
    ...Object.entries(golden.outputs).flatMap(([output, expected]) => [
      ...different(`${name} ${output} shape`, expected.shape, outputs[output]?.shape),
      ...expected.values.flatMap((value, index) => {
        const got = outputs[output]?.values[index] ?? Number.NaN;
        return Math.abs(got - value) <= golden.tolerance
          ? []
          : [`${name} ${output}[${index}]: ${got}, not ${value}`];
      }),
    ]),
  ];
}

function different(what: string, expected: unknown, got: unknown): string[] {
  const [wanted, came] = [JSON.stringify(expected), JSON.stringify(got)];
  return wanted === came ? [] : [`${what}: ${came}, not ${wanted}`];
}
